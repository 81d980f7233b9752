// What is wrong with a kube-apiserver: the judgements of controls in api-server.ts that look at more than one flag.
import { z } from 'zod';
import { notApplicable } from '../control.ts';
import { flagList, flagOf, flagText, type Judgement, type ProcessLook } from '../machine-looks.ts';
import { weakSuites } from '../tls-suites.ts';

const enabledPlugins = 'enable-admission-plugins';
const disabledPlugins = 'disable-admission-plugins';

export const needsPlugin =
  (plugin: string): ProcessLook['judge'] =>
  (process) =>
    flagList(process, enabledPlugins).includes(plugin) ? undefined : `${plugin} is not among --${enabledPlugins}`;

/** A plugin that is on unless it is taken away. */
export const keepsPlugin =
  (plugin: string): ProcessLook['judge'] =>
  (process) =>
    flagList(process, disabledPlugins).includes(plugin) ? `--${disabledPlugins} takes ${plugin} away` : undefined;

const anonymousSchema = z.object({
  anonymous: z.object({
    enabled: z.boolean(),
    conditions: z.array(z.object({ path: z.string() })).default([]),
  }),
});
const healthPaths = new Set(['/livez', '/readyz', '/healthz']);

export const anonymousOnlyForHealth: ProcessLook['judge'] = (process) => {
  if (flagOf(process, 'anonymous-auth') === 'false') return undefined;
  const { authentication } = process.settings;
  const anonymous = anonymousSchema.safeParse(authentication).data?.anonymous;
  if (anonymous === undefined)
    return `anonymous requests are allowed everywhere: ${flagText(process, 'anonymous-auth')}`;
  const more = anonymous.conditions.map(({ path }) => path).filter((path) => !healthPaths.has(path));
  if (!anonymous.enabled || (anonymous.conditions.length > 0 && more.length === 0)) return undefined;
  return `anonymous requests are allowed ${more.length === 0 ? 'everywhere' : `for ${more.join(', ')}`}`;
};

export const authorizes: ProcessLook['judge'] = (process) => {
  const given = flagList(process, 'authorization-mode');
  // Without the flag and without a configuration file, everything is allowed.
  if (given.length === 0) return flagOf(process, 'authorization-config') ? undefined : 'no authorization is configured';
  return given.includes('AlwaysAllow') ? flagText(process, 'authorization-mode') : undefined;
};

export const needsMode =
  (mode: string): ProcessLook['judge'] =>
  (process) =>
    flagList(process, 'authorization-mode').includes(mode) ? undefined : flagText(process, 'authorization-mode');

/** Since 1.35 a kubelet asks, for each image that it pulled, for the credentials that it was pulled with. */
export const alwaysPulls: ProcessLook['judge'] = (process, _machine, { machines }) => {
  if (flagList(process, enabledPlugins).includes('AlwaysPullImages')) return undefined;
  const open = machines.filter(({ kubelet }) => {
    const policy = kubelet.status === 'seen' ? kubelet.value.imagePullCredentialsVerificationPolicy : undefined;
    return policy === undefined || policy === 'NeverVerify';
  });
  const names = open.map(({ name }) => name).join(', ');
  if (open.length > 0) return `pods of ${names} get images without the credentials that these were pulled with`;
  return notApplicable(
    'images of the release are on the machines and in no registry, so pulling each time would stop them; kubelets ask for the credentials that an image was pulled with',
  );
};

export const atLeast =
  (name: string, least: number): ProcessLook['judge'] =>
  (process) =>
    Number(flagOf(process, name) ?? 0) >= least ? undefined : `${flagText(process, name)}, at least ${least}`;

/** The plugin is alpha. Who writes most events are the kubelets, and they limit themselves. */
export const limitsEvents: ProcessLook['judge'] = (process, _machine, { machines }) => {
  if (flagList(process, enabledPlugins).includes('EventRateLimit')) return undefined;
  const free = machines.filter(({ kubelet }) => kubelet.status === 'unseen' || kubelet.value.eventRecordQPS === 0);
  const names = free.map(({ name }) => name).join(', ');
  if (free.length > 0) return `EventRateLimit is not among --${enabledPlugins}, and nothing limits events of ${names}`;
  return notApplicable(
    'the plugin EventRateLimit is alpha; kubelets write most events, and each has a limit of its own',
  );
};

/** The default is one minute. */
export const timeoutIsShort: ProcessLook['judge'] = (process) => {
  const given = flagOf(process, 'request-timeout') ?? '1m0s';
  const [, hours = '0', minutes = '0', seconds = '0'] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(given) ?? [];
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return total > 0 && total <= 300 ? undefined : `--request-timeout is ${given}`;
};

export const keepsLookup: ProcessLook['judge'] = (process) =>
  (flagOf(process, 'service-account-lookup') ?? 'true') === 'true'
    ? undefined
    : flagText(process, 'service-account-lookup');

/** The resources that must not lie in etcd in clear, with the provider that writes them: the first of the list. */
export const encryptsSecrets: ProcessLook['judge'] = ({ settings: { encryption } }): Judgement => {
  if (encryption === undefined) return 'there is no encryption configuration';
  const covers = encryption.find(({ resources }) => resources.some((each) => ['secrets', '*.', '*.*'].includes(each)));
  const provider = covers?.providers[0];
  if (provider === undefined) return 'Secrets are not among what is encrypted';
  return strongProviders.has(provider) ? undefined : `Secrets are written by the provider ${provider}`;
};
const strongProviders = new Set(['aescbc', 'aesgcm', 'secretbox', 'kms']);

export const strongSuites: ProcessLook['judge'] = (process) =>
  weakSuites({ minVersion: flagOf(process, 'tls-min-version'), suites: flagList(process, 'tls-cipher-suites') });

export const withoutAlwaysAdmit: ProcessLook['judge'] = (process) =>
  flagList(process, enabledPlugins).includes('AlwaysAdmit') ? `AlwaysAdmit is among --${enabledPlugins}` : undefined;

export const withoutTokenFile: ProcessLook['judge'] = (process) =>
  flagOf(process, 'token-auth-file') === undefined ? undefined : flagText(process, 'token-auth-file');
