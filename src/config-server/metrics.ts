// The server's metrics. Every label has few values by construction: a path or a pool that a client made up is never one
// of them. CPU and memory of the process are not here: systemd counts them per unit.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ConnectionTrouble } from '../host/https-server.ts';
import type { AnswerDecision } from './handler.ts';

export interface MetricsReaders {
  readonly connections: () => number;
  readonly outstandingTokens: () => number;
  readonly certificateNotAfter: () => Date;
  readonly servedPools: () => readonly string[];
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
  });
  const durations = new Histogram({
    name: `${prefix}answer_seconds`,
    help: 'Time from the headers of a request to its answer.',
    labelNames: ['route'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers,
  });
  const troubles = new Counter({
    name: `${prefix}connection_troubles_total`,
    help: 'Connections that ended without an answer, by kind.',
    labelNames: ['kind'],
    registers,
  });
  addGauges(registers, readers);
  return {
    answered: ({ route, pool = '', reason }, status, seconds) => {
      // A client that was refused may have made the name up.
      const isKnown = reason !== 'token-refused' && readers.servedPools().includes(pool);
      answers.inc({ route, pool: isKnown ? pool : '', status, reason });
      durations.observe({ route }, seconds);
    },
    trouble: ({ kind }) => troubles.inc({ kind }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function addGauges(registers: Registry[], readers: MetricsReaders): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    // prom-client calls `collect` when the metrics are read.
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
