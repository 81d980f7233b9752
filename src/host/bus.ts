// D-Bus as the product needs it: calls with a deadline, and signals of exactly one sender.
// A sender in a match rule does not keep strangers out, because any peer may address a signal to us directly;
// `listen` therefore compares the sender of every message with the present owner of the name.
export interface BusOptions {
  /** `unix:path=…`, or a list of addresses separated by `;`. */
  readonly address: string;
  /** A peer without a bus in between (systemd's private socket): no names, no match rules. */
  readonly isDirect?: boolean;
}

export interface BusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature?: string;
  readonly body?: readonly unknown[];
  /** Default 25 s, as in every D-Bus library. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface SignalSource {
  /** A well-known name; it must have an owner when `listen` is called. */
  readonly sender: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
}

export interface SignalListener {
  readonly received: (body: readonly unknown[]) => void;
  /** Once, when no further signal can come: the sender left the bus or changed hands, or the bus is gone. */
  readonly lost: (reason: string) => void;
}

export interface BusConnection extends AsyncDisposable {
  /** The reply's values; 64-bit integers are bigint. An error reply throws HOST_BUS with its `errorName`. */
  call(call: BusCall): Promise<readonly unknown[]>;
  /** Signals arrive in the order of the bus, relative to the replies of `call` too. */
  listen(source: SignalSource, listener: SignalListener): Promise<Disposable>;
}

export interface Bus {
  connect(options: BusOptions): Promise<BusConnection>;
}
