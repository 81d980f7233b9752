// Requests the signers of a new master, once, over TLS that is checked against root-ca, with the single-use token of
// this machine's configuration. No configuration contains them. The idempotency key is on the disk before the request
// is sent: this machine can repeat the request after a lost answer, and another machine cannot use the token.

import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { bootstrapKubeconfig, configServerCa, machineStateFolder } from '../../contract/machine-paths.ts';
import { configServerPort } from '../../contract/ports.ts';
import { pkiFolder } from '../../control-plane/control-plane-paths.ts';
import {
  masterKeyFiles,
  masterKeysSchema,
  modeOfKeyFile,
  readMasterKeys,
  redemptionHeader,
} from '../../control-plane/master-keys.ts';
import { isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import type { Agent } from '../agent-context.ts';
import { acted, type Duty, settled } from '../duty.ts';
import { agentErrors } from '../errors.ts';

/** Present until the cluster has recorded that this machine holds its keys: see spent-token.ts. */
export const redemptionFile = '/var/lib/firstlight/keys-redemption';

export const keysDuty: Duty = {
  name: 'keys',
  roles: ['master'],
  needs: [],
  ignoresRingsWhenSettled: true,
  run: async (agent) => {
    const { files } = agent.host;
    const held = await readMasterKeys(files, pkiFolder);
    if (held.status === 'read') return settled();
    const received = await requestKeys(agent);
    await files.makeFolder(pkiFolder, { mode: 0o700 });
    await files.setMode(pkiFolder, 0o700);
    for (const [name, pem] of received) {
      await files.write(join(pkiFolder, name), pem, { mode: modeOfKeyFile(name) });
    }
    return acted('received the signers');
  },
};

async function requestKeys({ host, apiServerUrl }: Agent): Promise<readonly (readonly [name: string, pem: string])[]> {
  const server = new URL(apiServerUrl);
  const url = `https://${server.hostname}:${configServerPort}/keys/master`;
  const [token, redemption, ca] = await Promise.all([
    readToken(host),
    redemptionKey(host),
    host.files.readText(configServerCa),
  ]);
  const headers = { authorization: `Bearer ${token}`, [redemptionHeader]: redemption };
  const answer = await host.network.request({ url, ca, headers, timeoutMs: 10_000 }).catch((cause: unknown) => {
    if (!isError(cause, hostErrors.NETWORK)) throw cause;
    throw agentErrors.KEYS({ url, reason: cause.details.reason }, { cause });
  });
  if (answer.status !== 200) throw agentErrors.KEYS({ url, reason: `the config server answered ${answer.status}` });
  const read = masterKeysSchema.safeParse(jsonIfValid(answer.body));
  if (!read.success) throw agentErrors.KEYS({ url, reason: 'the answer is not a set of keys' });
  return masterKeyFiles.map((name) => {
    const pem = read.data.files[name];
    if (pem === undefined) throw agentErrors.KEYS({ url, reason: `${name} is not in the answer` });
    return [name, pem] as const;
  });
}

const kubeconfig = z.object({ users: z.tuple([z.object({ user: z.object({ token: z.string().min(1) }) })]) });

/** The single-use token of this machine's configuration. */
export async function readToken({ files }: Pick<Host, 'files'>): Promise<string> {
  const content = await files.readIfPresent(bootstrapKubeconfig);
  if (content === undefined) throw agentErrors.NO_IDENTITY({ path: bootstrapKubeconfig });
  const read = kubeconfig.safeParse(parseYaml(Buffer.from(content).toString('utf8')));
  if (!read.success) throw agentErrors.NO_IDENTITY({ path: `a token in ${bootstrapKubeconfig}` });
  return read.data.users[0].user.token;
}

/** The same in every attempt, also after a crash: it distinguishes a repeated request from that of another machine. */
async function redemptionKey({ files, random }: Host): Promise<string> {
  const present = await files.readIfPresent(redemptionFile);
  if (present !== undefined) return Buffer.from(present).toString('utf8').trim();
  const redemption = Buffer.from(random.bytes(32)).toString('base64url');
  await files.makeFolder(machineStateFolder, { mode: 0o755 });
  await files.write(redemptionFile, `${redemption}\n`, { mode: 0o600 });
  return redemption;
}
