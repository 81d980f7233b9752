import { pino } from 'pino';
import { realHost } from '../src/host/real/real-host.ts';
import { openFileSource } from '../src/machine-config/server/file-source.ts';
import { createHandler } from '../src/machine-config/server/handler.ts';
import { createMetrics } from '../src/machine-config/server/metrics.ts';
import { answerEntry } from '../src/machine-config/server/server-log.ts';
import { openTokenLedger } from '../src/machine-config/server/token-ledger.ts';
import { redact } from '../src/observe/redact.ts';
import { makeLab, tokens } from '../test/oracle/config-server-lab.ts';
const host = realHost();
const lab = makeLab();
const issuer = await openTokenLedger(host, { path: lab.at('served/tokens'), limit: 1e7 });
const source = await openFileSource(host, {
  renderedFolder: lab.at('rendered'),
  poolTokensPath: lab.at('pool-tokens.json'),
  kubeconfigPath: lab.at('kubeconfig'),
  pkiFolder: lab.at('tls'),
  onProblem: console.log,
});
const handler = createHandler({
  access: 'token',
  source,
  issuer,
  clock: host.clock,
  files: host.files,
  keysFolder: '',
  unhealthy: () => [],
});
const metrics = createMetrics({
  connections: () => 0,
  outstandingTokens: () => 0,
  certificateNotAfter: () => new Date(),
  servedPools: () => ['master', 'worker'],
  isHealthy: () => true,
});
let sink = 0;
const logger = pino(
  { base: null, messageKey: 'text', timestamp: () => `,"time":"${host.clock.now().toISOString()}"` },
  {
    write: (l) => {
      sink += redact(l).length;
    },
  },
);
const request = {
  method: 'GET',
  target: '/config/master',
  headers: {
    authorization: `Bearer ${tokens.master}`,
    'user-agent': 'Ignition/2.24.0',
    accept: 'application/vnd.coreos.ignition+json;version=3.5.0, */*;q=0.1',
  },
  peer: { address: '10.0.0.1', from: 'connection' as const },
};
async function cpu(name: string, n: number, f: () => unknown) {
  for (let i = 0; i < 2000; i++) await f();
  const b = process.cpuUsage();
  for (let i = 0; i < n; i += 64) await Promise.all(Array.from({ length: 64 }, f));
  const u = process.cpuUsage(b);
  console.log(name.padEnd(20), ((u.user + u.system) / n).toFixed(2), 'us');
}
const handled = await handler(request);
await cpu('empty', 50000, async () => 0);
await cpu('handler', 50000, () => handler(request));
await cpu('issue', 50000, () =>
  issuer.issue({ pool: 'master', config: 'rendered-master-e4591aaa2fc6e074eb56a1ce50752302' }),
);
await cpu('metrics', 50000, () => metrics.answered(handled.decision, 200, 0.001));
await cpu('entry', 50000, () => answerEntry(request, handled.answer, { decision: handled.decision, ms: 1 }));
await cpu('entry+log', 50000, () => {
  const e = answerEntry(request, handled.answer, { decision: handled.decision, ms: 1 });
  logger.info(e.fields, e.text);
});
const line = JSON.stringify(answerEntry(request, handled.answer, { decision: handled.decision, ms: 1 }));
await cpu('redact', 50000, () => redact(line));
await cpu('after', 50000, () => {
  using _t = host.clock.after(8000, () => {});
});
await cpu('random', 50000, () => host.random.bytes(32));
await source[Symbol.asyncDispose]();
await issuer[Symbol.asyncDispose]();
lab[Symbol.dispose]();
import { negotiateSpec } from '../src/machine-config/server/accept.ts';
import { bearerToken, judgePoolToken } from '../src/machine-config/server/access.ts';
import { buildServedConfig } from '../src/machine-config/server/served-config.ts';
import { tokenMaker } from '../src/machine-config/server/bootstrap-token.ts';
const st = source.current();
const b: any = buildServedConfig(st.pools.get('master') as any, '3.5.0');
await cpu('negotiate', 50000, () => negotiateSpec(request.headers.accept));
await cpu('bearer', 50000, () => bearerToken(request.headers.authorization));
await cpu('judge', 50000, () =>
  judgePoolToken(tokens.master, 'master', { digests: st.poolTokens, now: host.clock.now() }),
);
await cpu('fill', 50000, () => b.fill('abcdef.0123456789abcdef'));
const mk = tokenMaker(host.random);
await cpu('mk', 50000, mk);
await cpu('iso', 50000, () => host.clock.now().toISOString());
await cpu('json', 50000, () =>
  JSON.stringify({
    kind: 'issued',
    id: 'abcdef',
    token: 'abcdef.0123456789abcdef',
    pool: 'master',
    config: 'rendered-master-e4591aaa2fc6e074eb56a1ce50752302',
    issuedAt: '2026-11-15T06:18:10Z',
    expiresAt: '2026-11-15T06:18:10Z',
  }),
);
