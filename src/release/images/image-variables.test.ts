import { expect, test } from 'vitest';
import { imageVariables } from './image-variables.ts';
import { partImages } from './images.ts';

test('every variable of bootkube names an image that the release has', () => {
  const images = new Set([...partImages.map((image) => image.name), 'firstlight']);
  expect(imageVariables.filter(({ image }) => !images.has(image))).toEqual([]);
});

test('no variable is named twice', () => {
  const names = imageVariables.map(({ variable }) => variable);
  expect(new Set(names).size).toBe(names.length);
});

test('every stage of bootkube that renders finds its image', () => {
  const names = imageVariables.map(({ variable }) => variable);
  expect(names).toEqual(
    expect.arrayContaining([
      'KUBE_APISERVER_OPERATOR_IMAGE',
      'AUTHENTICATION_OPERATOR_IMAGE',
      'CONFIG_OPERATOR_IMAGE',
      'CVO_IMAGE',
      'ETCD_OPERATOR_IMAGE',
      'KUBE_CONTROLLER_MANAGER_OPERATOR_IMAGE',
      'KUBE_SCHEDULER_OPERATOR_IMAGE',
      'INGRESS_OPERATOR_IMAGE',
      'MACHINE_CONFIG_OPERATOR_IMAGE',
      'CLUSTER_BOOTSTRAP_IMAGE',
    ]),
  );
});
