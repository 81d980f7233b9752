// Clients of etcd that outlive a certificate: given the current one before use, they dial anew when it has changed.
import { type EtcdClients, etcdClients, type EtcdTls } from '../etcd/client.ts';
import type { Clock } from '../host/clock.ts';

export class RenewingClients implements EtcdClients {
  readonly #clock: Clock;
  #current: { readonly certificatePem: string; readonly clients: EtcdClients } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  use(tls: EtcdTls): this {
    if (this.#current?.certificatePem === tls.certificatePem) return this;
    this[Symbol.dispose]();
    this.#current = { certificatePem: tls.certificatePem, clients: etcdClients(tls, this.#clock) };
    return this;
  }

  at(url: string): ReturnType<EtcdClients['at']> {
    if (this.#current === undefined) throw new Error('no certificate was given to the clients of etcd');
    return this.#current.clients.at(url);
  }

  [Symbol.dispose](): void {
    this.#current?.clients[Symbol.dispose]();
    this.#current = undefined;
  }
}
