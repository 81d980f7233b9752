// Attacks on a cluster that `create cluster` made with its defaults, each against the real thing. One cluster for all
// topics, in the order of this list; each topic is a file of test/e2e/trust.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { startCli, temporaryFolder } from './machine-lab.ts';
import { auditTopic } from './trust/audit.ts';
import { configServerFloodTopic } from './trust/config-server-flood.ts';
import { containerKeysTopic } from './trust/container-keys.ts';
import { hardenedDefaultsTopic } from './trust/hardened-defaults.ts';
import { hostileNodeTopic } from './trust/hostile-node.ts';
import { openPortsTopic } from './trust/open-ports.ts';
import { requestFloodTopic } from './trust/request-flood.ts';
import { secretRightsTopic } from './trust/secret-rights.ts';
import { secretsEncryptionTopic } from './trust/secrets-encryption.ts';
import { shortLivesTopic } from './trust/short-lives.ts';
import { terminalOutputTopic } from './trust/terminal-output.ts';
import type { TrustCluster } from './trust/trust-cluster.ts';
import { usedTokenTopic } from './trust/used-token.ts';

const folder = temporaryFolder();
const dir = join(folder, 'cluster');
let infraId = '';
const cluster: TrustCluster = { dir, folder, infraId: () => infraId };

const topics: Readonly<Record<string, (cluster: TrustCluster) => void>> = {
  'secrets in etcd': secretsEncryptionTopic,
  'keys in containers': containerKeysTopic,
  'lives of certificates': shortLivesTopic,
  'rights to Secrets': secretRightsTopic,
  'the config server under attack': configServerFloodTopic,
  'a used token': usedTokenTopic,
  'a hostile node': hostileNodeTopic,
  'a flood of certificate requests': requestFloodTopic,
  'what others write and administrators read': terminalOutputTopic,
  'hardened defaults': hardenedDefaultsTopic,
  'open ports': openPortsTopic,
  // The last one: it would show what another topic left behind.
  'the audit': auditTopic,
};

beforeAll(async () => {
  const outcome = await startCli(['create', 'cluster', '--dir', dir, '-o', 'json']).outcome;
  if (outcome.code !== 0) throw new Error(`create cluster ended with ${outcome.code}\n${outcome.stderr}`);
  infraId = (JSON.parse(outcome.stdout) as { infraId: string }).infraId;
});

afterAll(async () => {
  await startCli(['destroy', 'cluster', '--dir', dir]).outcome;
  rmSync(folder, { recursive: true, force: true });
});

describe.each(Object.entries(topics))('%s', (_name, declareTests) => {
  declareTests(cluster);
});
