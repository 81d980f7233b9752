// Options and arguments that several ipb verbs share, and how they become a request.
import type { AttemptRequest } from '../../cluster/in-place/prepare-attempt.ts';
import type { InPlaceSystem } from '../../contract/in-place.ts';
import type { Host } from '../../host/host.ts';
import { cliErrors } from '../frame/errors.ts';
import {
  argument,
  choiceOf,
  flag,
  option,
  optionWithDefault,
  positiveNumber,
  text,
  type ValuesOf,
} from '../frame/option.ts';
import { typedPath } from '../frame/paths.ts';

export const nodeArgument = argument('a node of the cluster');

/** What goes into the Secret of an attempt. */
export const requestOptions = {
  os: optionWithDefault(
    '--os <route>',
    'rhcos: by an Ignition config of the config server; rhel: by a payload of bash and ansible',
    choiceOf(['rhcos', 'rhel'] as const satisfies readonly InPlaceSystem[]),
    'rhcos',
  ),
  hours: option('--hours <n>', 'for how long the attempt may begin (default 2, of a whole pool 12)', positiveNumber),
  payloadUrl: option('--payload-url <url>', 'another payload service than the cluster’s own', text),
  payloadTokenFile: option('--payload-token-file <file>', 'its token', text),
  payloadCaFile: option('--payload-ca-file <file>', 'the authority of its certificate, PEM', text),
  workerId: option('--worker-id <id>', 'the worker that the payload is made for (default: the name of the node)', text),
  region: option('--region <name>', 'the region that the payload is made for (default: local)', text),
  registryProbe: option(
    '--registry-probe <image>',
    'an image that must be found in its registry before anything',
    text,
  ),
  reportUrl: option('--report-url <url>', 'report to this progress API too', text),
  reportTokenFile: option('--report-token-file <file>', 'its token', text),
  reportCaFile: option('--report-ca-file <file>', 'the authority of its certificate, PEM', text),
  reportRequired: flag('--report-required', 'do not begin while that API does not answer'),
  proxy: option('--proxy <json>', 'proxies of the machine: {"http": …, "https": …, "no": …}', text),
};

export async function attemptRequest(
  host: Host,
  options: ValuesOf<typeof requestOptions>,
  { command, hoursDefault }: { readonly command: string; readonly hoursDefault: number },
): Promise<AttemptRequest> {
  const { os, hours = hoursDefault, workerId, region, registryProbe, proxy } = options;
  const { payloadUrl, payloadTokenFile, payloadCaFile, reportUrl, reportTokenFile, reportCaFile } = options;
  const read = async (path: string): Promise<string> => (await host.files.readText(typedPath(host, path))).trim();
  const service = async (name: string, url: string, tokenFile: string | undefined, caFile: string | undefined) => {
    if (tokenFile === undefined || caFile === undefined) {
      const reason = `--${name}-url needs --${name}-token-file and --${name}-ca-file`;
      throw cliErrors.USAGE({ reason, command });
    }
    return { url, token: await read(tokenFile), ca: `${await read(caFile)}\n` };
  };
  return {
    os,
    hours,
    ...(payloadUrl === undefined
      ? {}
      : { payload: await service('payload', payloadUrl, payloadTokenFile, payloadCaFile) }),
    ...(workerId === undefined ? {} : { workerId }),
    ...(region === undefined ? {} : { region }),
    ...(registryProbe === undefined ? {} : { registryProbe }),
    ...(reportUrl === undefined
      ? {}
      : {
          report: {
            ...(await service('report', reportUrl, reportTokenFile, reportCaFile)),
            isRequired: options.reportRequired,
          },
        }),
    ...(proxy === undefined ? {} : { proxy }),
  };
}
