// KubeletConfig: the settings of a user for the kubelets of some pools, with upstream's fields. `kubeletConfig` holds
// fields of KubeletConfiguration (kubelet.config.k8s.io/v1beta1); generate-kubelet-configs.ts judges them.
import { z } from 'zod';
import { apiVersion, labelSelectorSchema, objectMetadataSchema } from './machine-config.ts';

export const kubeletConfigSchema = z.object({
  apiVersion: z.literal(apiVersion),
  kind: z.literal('KubeletConfig'),
  metadata: objectMetadataSchema,
  spec: z.object({
    /** By labels of pools; absent or empty selects nothing. */
    machineConfigPoolSelector: labelSelectorSchema.nullish(),
    kubeletConfig: z
      .record(z.string(), z.unknown())
      .nullish()
      .transform((fields) => fields ?? {}),
    logLevel: z.int().min(0).max(10).nullish(),
    autoSizingReserved: z.boolean().nullish(),
    tlsSecurityProfile: z.unknown().optional(),
  }),
});
export type KubeletConfig = z.output<typeof kubeletConfigSchema>;
