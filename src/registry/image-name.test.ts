import { expect, test } from 'vitest';
import { registryErrors } from './errors.ts';
import { repositoryTag } from './image-name.ts';

test.each([
  ['app', 'app', 'latest'],
  ['team/app:1', 'team/app', '1'],
  ['localhost/app:1', 'app', '1'],
  ['docker.io/library/nginx:1.29', 'library/nginx', '1.29'],
  ['127.0.0.1:15000/team/app', 'team/app', 'latest'],
  ['release.firstlight.internal/etcd:v3.7.3', 'etcd', 'v3.7.3'],
  [`quay.io/a/b:c@sha256:${'0'.repeat(64)}`, 'a/b', 'c'],
])('%s is %s with the tag %s', (name, repository, tag) => {
  expect(repositoryTag(name)).toEqual({ repository, tag });
});

test.each(['', 'Team/App:1', 'a//b', 'app:', 'app:-x', 'a/../app', 'localhost/', 'app:a b'])(
  '%j is refused by name',
  (name) => {
    expect(() => repositoryTag(name)).toThrow(expect.objectContaining({ code: registryErrors.NAME.code }));
  },
);
