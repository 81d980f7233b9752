// Stage 15: checks that the API answers under all its names: localhost, the name for machines, the name for people.
// Masters join by the name for machines, so a wrong name is reported here before masters wait for it.
import { handoffMark } from '../../contract/bootstrap-paths.ts';
import { missingLine } from '../../contract/missing.ts';
import { localApiUrl } from '../../contract/ports.ts';
import { askReadiness } from '../../kubernetes/readiness.ts';
import type { StageTools } from '../../workflow/stage.ts';
import { waitUntil } from '../../workflow/wait.ts';
import type { BootkubeContext } from '../context.ts';
import { apiProbe, readApiCa } from '../readiness-probes.ts';
import { type NumberedStage, type StageCheck, verifyStage } from '../render-stage.ts';

const minuteMs = 60_000;

/** Once more, all at one moment: the waits above end one after the other. */
const answersToMachines: StageCheck = {
  name: 'the API answers on this machine and under the name for machines',
  run: async ({ host, names }) => {
    const ca = await readApiCa(host);
    const asked = [localApiUrl, names.apiInternalUrl].map((url) => askReadiness(host, apiProbe(url, ca)));
    const missing = (await Promise.all(asked)).flatMap((api) => (api.status === 'waiting' ? api.missing : []));
    return missing.length === 0 ? undefined : missingLine(missing);
  },
};

export const apiVerification: NumberedStage = {
  number: 15,
  name: 'api-verification',
  why: 'Checks that the API answers under all of its names. Machines join by one of them, and people use another.',
  inputs: ['/etc/kubernetes/pki/apiserver-ca.crt'],
  outputs: [],
  observe: async ({ host }) =>
    (await host.files.facts(handoffMark)) === undefined
      ? { status: 'needed', because: 'readiness is looked at anew each time' }
      : { status: 'done' },
  run: async (context, tools) => {
    const ca = await readApiCa(context.host);
    await answersUnder(context, tools, { url: localApiUrl, ca, deadlineMs: 10 * minuteMs });
    await answersUnder(context, tools, { url: context.names.apiInternalUrl, ca, deadlineMs: 10 * minuteMs });
    await answersUnder(context, tools, { url: context.names.apiUrl, ca, deadlineMs: minuteMs }).catch(
      (error: unknown) => {
        // Only people need this name, machines do not: the bootstrap continues with a warning.
        const reason = error instanceof Error ? error.message : String(error);
        context.emit({ kind: 'notice', level: 'warn', text: reason });
      },
    );
    await verifyStage(context, apiVerification);
    return { note: 'the API answers' };
  },
  verify: [answersToMachines],
};

async function answersUnder(
  { host }: BootkubeContext,
  tools: StageTools,
  { url, ca, deadlineMs }: { readonly url: string; readonly ca: string; readonly deadlineMs: number },
): Promise<void> {
  await waitUntil({
    clock: host.clock,
    what: `an answer of the API under ${url}`,
    deadlineMs,
    everyMs: 100,
    probe: () => askReadiness(host, apiProbe(url, ca)),
    signal: tools.signal,
    onMissing: (missing) => tools.report({ missing }),
  });
}
