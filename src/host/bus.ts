// D-Bus: calls with a deadline, and signals of exactly one sender. A sender in a match rule is not enough, because any
// peer can send a signal to us directly; so `listen` compares the sender of every message with the current owner of the
// name.
export interface BusOptions {
  /** `unix:path=…`, or a list of addresses separated by `;`. */
  readonly address: string;
  /** A direct connection to a peer (systemd's private socket): there are no names and no match rules. */
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
  /** Called once, when no further signal can come: the name lost or changed its owner, or the bus is gone. */
  readonly lost: (reason: string) => void;
}

export interface BusConnection extends AsyncDisposable {
  /** The reply's values; 64-bit integers are bigint. An error reply throws HOST_BUS with its `errorName`. */
  call(call: BusCall): Promise<readonly unknown[]>;
  /** Signals and replies of `call` arrive in the order of the bus. */
  listen(source: SignalSource, listener: SignalListener): Promise<Disposable>;
}

export interface Bus {
  connect(options: BusOptions): Promise<BusConnection>;
}
