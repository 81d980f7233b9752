import { spawn } from 'node:child_process';
import { readFileSync, openSync, readdirSync } from 'node:fs';
import { connect, createSecureContext } from 'node:tls';
import { makeLab, serveArguments, tokens } from '../test/oracle/config-server-lab.ts';
const lab = makeLab();
lab.write('settings.json', JSON.stringify({ outstandingTokens: 1e7 }));
const log = openSync('/tmp/prof.log', 'w');
const c = spawn(
  process.execPath,
  ['--cpu-prof', '--cpu-prof-dir=/tmp/prof', process.argv[2]!, ...serveArguments(lab, 25556), '--log-level', 'info'],
  { stdio: ['ignore', 'ignore', log] },
);
let port;
while (!(port = /"port":(\d+)/.exec(readFileSync('/tmp/prof.log', 'utf8'))?.[1]))
  await new Promise((r) => setTimeout(r, 50));
const context = createSecureContext({ ca: lab.rootCa.certificatePem });
const req = `GET /config/master HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.master}\r\nUser-Agent: Ignition/2.24.0\r\n\r\n`;
const end = performance.now() + 4000;
let n = 0;
await Promise.all(
  Array.from(
    { length: Number(process.argv[3]) },
    () =>
      new Promise<void>((res) => {
        const s = connect({ port: Number(port), secureContext: context, servername: 'localhost' });
        let got = 0;
        s.on('data', (d) => {
          got += d.length;
          if (got >= 18873) {
            got = 0;
            n++;
            if (performance.now() > end) {
              s.destroy();
              res();
            } else s.write(req);
          }
        });
        s.write(req);
      }),
  ),
);
console.log('requests/s', n / 4);
c.kill('SIGTERM');
await new Promise((r) => c.once('close', r));
lab[Symbol.dispose]();
const f = readdirSync('/tmp/prof')
  .filter((x) => x.endsWith('.cpuprofile'))
  .sort()
  .at(-1)!;
const p = JSON.parse(readFileSync('/tmp/prof/' + f, 'utf8'));
const self = new Map<string, number>();
const dt = p.timeDeltas;
const byId = new Map(p.nodes.map((x: any) => [x.id, x]));
p.samples.forEach((id: number, i: number) => {
  const nd: any = byId.get(id);
  const k =
    nd.callFrame.functionName + ' ' + nd.callFrame.url.split('/').slice(-2).join('/') + ':' + nd.callFrame.lineNumber;
  self.set(k, (self.get(k) ?? 0) + dt[i]);
});
const tot = [...self.values()].reduce((a, b) => a + b, 0);
for (const [k, v] of [...self].sort((a, b) => b[1] - a[1]).slice(0, 32))
  console.log(((v / tot) * 100).toFixed(1) + '%', (v / 1000).toFixed(0) + 'ms', k);
