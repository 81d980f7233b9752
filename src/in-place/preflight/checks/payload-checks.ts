// P07, P08, P09 and P12: the payload can be had, is what the Secret says, and can be applied to this machine.
import { hash } from 'node:crypto';
import { jsonIfValid } from '../../../host/json-if-valid.ts';
import { emptyMachine, withNamedKernel } from '../../../machine-config/machine-config.ts';
import { reconcilableProblems } from '../../../machine-config/reconcilable.ts';
import { judged, type PreflightCheck, type PreflightVerdict } from '../check.ts';
import type { PayloadAnswer, PreflightFacts } from '../facts.ts';
import { ignitionContent } from '../ignition-content.ts';

function judgeConnection({ payload }: PreflightFacts): PreflightVerdict {
  if (payload === undefined) return judged.skipped('the secret has no URL of a payload');
  const where = `${payload.host}:${payload.port}`;
  const { answer } = payload;
  return answer.status === 'answered' || answer.stage === 'answer'
    ? judged.ok(`${where} answers, and its certificate is the one of the secret`)
    : judged.transient(`${where} ${answer.stage}: ${answer.detail}`);
}

/** The server did not answer yes, and asking again will not change that. */
const permanentCodes = [400, 401, 403, 404, 410, 511];

/** An Ignition config is JSON, an archive is compressed by gzip. */
function isOfItsKind(body: Uint8Array, os: string | undefined): boolean {
  if (os === 'rhel') return body[0] === 0x1f && body[1] === 0x8b;
  return jsonIfValid(body) !== undefined;
}

function judgeDownload({ payload, secret }: PreflightFacts): PreflightVerdict {
  const answer = payload?.answer;
  if (answer?.status === 'unreached' && answer.stage === 'answer') {
    return judged.permanent(`GET ${payload?.url} -> ${answer.detail}`);
  }
  if (payload === undefined || answer?.status !== 'answered') {
    return judged.skipped('no server to download from was reached');
  }
  const { code, body } = answer.value;
  if (code !== 200) {
    const message = `GET ${payload.url} -> ${code}`;
    return permanentCodes.includes(code) ? judged.permanent(message) : judged.transient(message);
  }
  if (!isOfItsKind(body, secret.os)) {
    return judged.permanent(`GET ${payload.url} -> 200, but it is no ${secret.os === 'rhel' ? 'archive' : 'JSON'}`);
  }
  const digest = hash('sha256', body, 'hex');
  return judged.ok(`GET ${payload.url} -> 200, ${body.length} bytes, sha256 ${digest}`);
}

/** The payload, where one came. */
export function downloaded({ payload }: Pick<PreflightFacts, 'payload'>): PayloadAnswer | undefined {
  const answer = payload?.answer;
  return answer?.status === 'answered' && answer.value.code === 200 ? answer.value : undefined;
}

function judgeConfig(facts: PreflightFacts): PreflightVerdict {
  if (facts.secret.os === 'rhel') return judged.skipped('only for Ignition configs');
  const answer = downloaded(facts);
  if (answer === undefined) return judged.skipped('there is no payload to look at');
  const read = ignitionContent(answer.body);
  const refused = (rule: string): PreflightVerdict => judged.permanent(`payload not applicable: ${rule}`);
  if (read.status === 'refused') return refused(read.reason);
  const { name, spec } = read.machineConfig;
  const { isFips, currentConfig } = facts.host;
  if (spec.fips !== isFips) return refused(`fips is ${String(spec.fips)}, the host has ${String(isFips)}`);
  const before = { ...withNamedKernel(currentConfig ?? emptyMachine), fips: spec.fips };
  const problems = reconcilableProblems(before, withNamedKernel(spec)).map(({ message }) => message);
  return problems.length === 0 ? judged.ok(`payload is ${name}`) : refused(problems.join('; '));
}

function judgeIds({ secret, archive }: PreflightFacts): PreflightVerdict {
  if (secret.os !== 'rhel') return judged.skipped('only for payloads of bash and ansible');
  if (archive === undefined) return judged.skipped('there is no payload to look at');
  if (archive.status === 'verified') {
    return judged.ok(`payload is for ${archive.ids.join(', ')}, and its signature is right`);
  }
  return judged.permanent(archive.check === 'ids' ? archive.reason : `payload is refused: ${archive.reason}`);
}

export const connectionCheck: PreflightCheck = {
  id: 'P07',
  title: 'the server of the payload answers, with a certificate of its authority',
  why: 'A name, a firewall or an authority that is wrong is found while the node still works.',
  judge: judgeConnection,
};

export const downloadCheck: PreflightCheck = {
  id: 'P08',
  title: 'the payload can be downloaded',
  why: 'The token and the ids of the Secret must open it.',
  judge: judgeDownload,
};

export const configCheck: PreflightCheck = {
  id: 'P09',
  title: 'the Ignition config can be applied to a machine that runs',
  why: 'What only a first boot can do, such as disks, would stop the change in its middle.',
  judge: judgeConfig,
};

export const idsCheck: PreflightCheck = {
  id: 'P12',
  title: 'the payload is made for this worker, and signed',
  why: 'A payload is run as root: it must be the one of this machine, and from our cluster.',
  judge: judgeIds,
};
