// The Lease as the API stores it, and its reference.
import type { KubernetesObject, ObjectReference } from './object.ts';

export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export interface Lease extends KubernetesObject {
  readonly spec: LeaseSpec;
}

export function leaseReference(namespace: string, name: string): ObjectReference {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name };
}

/** MicroTime of the API: always six digits of a second. */
export function microTime(date: Date): string {
  return date.toISOString().replace(/\.(\d{3})Z$/, '.$1000Z');
}
