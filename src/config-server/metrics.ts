// What the server counts. Every label has few values by construction: a path or a pool that a stranger made up is never
// one of them. What the process itself uses is not here: the machine counts that per unit.
import { Counter, Gauge, Registry } from 'prom-client';
import type { ConnectionTrouble } from '../host/https-server.ts';
import { answerDurations } from './answer-durations.ts';
import type { AnswerDecision } from './handler.ts';

export interface MetricsReaders {
  readonly connections: () => number;
  readonly outstandingTokens: () => number;
  readonly certificateNotAfter: () => Date;
  readonly servedPools: () => readonly string[];
  readonly isServed: (pool: string) => boolean;
  readonly isHealthy: () => boolean;
}

export interface Metrics {
  answered(decision: AnswerDecision, status: number, seconds: number): void;
  trouble(trouble: ConnectionTrouble): void;
  /** In the text format of Prometheus. */
  text(): Promise<string>;
  readonly contentType: string;
}

const prefix = 'firstlight_config_server_';

export function createMetrics(readers: MetricsReaders): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const answers = new Counter({
    name: `${prefix}answers_total`,
    help: 'Answers by route, pool, status and reason.',
    labelNames: ['route', 'pool', 'status', 'reason'],
    registers,
    collect: () => {
      for (const tally of tallies.values()) {
        answers.inc(tally.labels, tally.count);
        tally.count = 0;
      }
    },
  });
  const durations = answerDurations(
    `${prefix}answer_seconds`,
    'Time from the headers of a request to its answer.',
    [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
  );
  const troubles = new Counter({
    name: `${prefix}connection_troubles_total`,
    help: 'Connections that ended without an answer, by kind.',
    labelNames: ['kind'],
    registers,
  });
  addGauges(registers, readers);
  const tallies = new Map<string, Tally>();
  const tallyOf = (labels: Tally['labels']): Tally => {
    const { route, pool, status, reason } = labels;
    const name = `${route} ${pool} ${status} ${reason}`;
    const tally = tallies.get(name) ?? { labels, count: 0 };
    tallies.set(name, tally);
    return tally;
  };
  let last: Tally | undefined;
  return {
    answered: ({ route, pool = '', reason }, status, seconds) => {
      // Whoever was refused may have made the name up.
      const known = reason !== 'token-refused' && readers.isServed(pool) ? pool : '';
      if (last === undefined || !isLike(last.labels, { route, pool: known, status, reason })) {
        last = tallyOf({ route, pool: known, status, reason });
      }
      last.count += 1;
      durations.observe(route, seconds);
    },
    trouble: ({ kind }) => troubles.inc({ kind }),
    text: async () => `${await registry.metrics()}\n${durations.text()}`,
    contentType: registry.contentType,
  };
}

/** Most answers are like the one before. */
function isLike(one: Tally['labels'], other: Tally['labels']): boolean {
  return (
    one.route === other.route && one.pool === other.pool && one.status === other.status && one.reason === other.reason
  );
}

/** Answers since the counter was last read: prom-client looks at every label each time it counts. */
interface Tally {
  readonly labels: Readonly<Record<'route' | 'pool' | 'reason', string> & { status: number }>;
  count: number;
}

function addGauges(registers: Registry[], readers: MetricsReaders): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    // prom-client calls `collect` on the gauge, and only when somebody asks for the metrics.
    const made: Gauge = new Gauge({ name: `${prefix}${name}`, help, registers, collect: () => made.set(read()) });
  };
  gauge('connections', 'Open connections.', readers.connections);
  gauge('outstanding_tokens', 'Single-use tokens that were served and have not expired.', readers.outstandingTokens);
  gauge('healthy', '1 when /healthz says so.', () => (readers.isHealthy() ? 1 : 0));
  gauge('certificate_not_after_seconds', 'When the certificate in use ends, in Unix time.', () =>
    Math.floor(readers.certificateNotAfter().getTime() / 1000),
  );
  gauge('served_pools', 'Pools whose configuration can be served.', () => readers.servedPools().length);
}
