// The real D-Bus, with dbus-native. The library's `direct` mode is always on, so that Hello is our own call and its
// failure can be reported; the library would throw it in an event handler.
import type { DBusConnection, Message, MessageBus } from 'dbus-native';
import type { Bus, BusCall, BusConnection, BusOptions, SignalListener, SignalSource } from '../bus.ts';
import { hostErrors } from '../errors.ts';

const connectMs = 5_000;
const callMsDefault = 25_000;
const daemon = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
} as const;
const errorPrefix = 'org.freedesktop.DBus.Error';

export function realBus(): Bus {
  return { connect };
}

async function connect(options: BusOptions): Promise<BusConnection> {
  const { default: dbus } = await import('dbus-native');
  const client = dbus.createClient({ busAddress: options.address, direct: true, authMethods: ['EXTERNAL'] });
  const { connection } = client;
  try {
    await connected(connection, options.address);
    if (options.isDirect !== true) await call(client, { ...daemon, member: 'Hello' });
  } catch (error) {
    connection.stream.destroy();
    throw error;
  }
  return {
    call: (request) => call(client, request),
    listen: (source, listener) => listen(client, { source, listener, isDirect: options.isDirect === true }),
    [Symbol.asyncDispose]: async () => {
      connection.stream.destroy();
    },
  };
}

function connected(connection: DBusConnection, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown): void =>
      reject(hostErrors.BUS({ target: address, errorName: `${errorPrefix}.NoServer`, reason }, { cause }));
    const timer = setTimeout(() => fail(`no answer within ${connectMs} ms`), connectMs);
    const over = (): void => clearTimeout(timer);
    connection.on('connect', () => {
      over();
      resolve();
    });
    // Needed as long as the connection lives: pending calls fail anyway, but an 'error' without a listener ends the
    // process.
    connection.on('error', (error) => {
      over();
      fail(`cannot connect: ${error.message}`, error);
    });
    connection.on('close', () => {
      over();
      fail('the bus closed the connection');
    });
  });
}

function call(client: MessageBus, request: BusCall): Promise<readonly unknown[]> {
  const { timeoutMs = callMsDefault, signal, signature, body, ...header } = request;
  const message = { ...header, ...(signature === undefined ? {} : { signature, body: [...(body ?? [])] }) };
  return new Promise((resolve, reject) => {
    client.invoke(message, { timeout: timeoutMs, ...(signal === undefined ? {} : { signal }) }, (error, ...values) => {
      if (error === null || error === undefined) return resolve(values);
      if (signal?.aborted === true) return reject(signal.reason as Error);
      const errorName = error.dbusName ?? `${errorPrefix}.Failed`;
      const target = `${request.destination} ${request.member}`;
      reject(hostErrors.BUS({ target, errorName, reason: error.message }, { cause: error }));
    });
  });
}

interface Subscription {
  readonly source: SignalSource;
  readonly listener: SignalListener;
  readonly isDirect: boolean;
}

async function listen(client: MessageBus, { source, listener, isDirect }: Subscription): Promise<Disposable> {
  let owner: string | undefined;
  let isOver = false;
  const lose = (reason: string): void => {
    if (isOver) return;
    stop();
    listener.lost(reason);
  };
  const onMessage = (message: Message): void => {
    if (isOwnerChange(message, source.sender) && message.body?.[2] !== owner && owner !== undefined) {
      return lose(`${source.sender} left the bus`);
    }
    if (!isFrom(message, source)) return;
    if (isDirect || (owner !== undefined && message.sender === owner)) listener.received(message.body ?? []);
  };
  const onClose = (): void => lose('the bus closed the connection');
  const stop = (): void => {
    isOver = true;
    client.connection.off('message', onMessage);
    client.connection.off('close', onClose);
  };
  client.connection.on('message', onMessage);
  client.connection.on('close', onClose);
  try {
    if (!isDirect) {
      for (const rule of rulesFor(source)) {
        await call(client, { ...daemon, member: 'AddMatch', signature: 's', body: [rule] });
      }
      const reply = await call(client, { ...daemon, member: 'GetNameOwner', signature: 's', body: [source.sender] });
      owner = String(reply[0]);
    }
  } catch (error) {
    stop();
    throw error;
  }
  return { [Symbol.dispose]: stop };
}

function rulesFor(source: SignalSource): readonly string[] {
  const { sender, path, member } = source;
  return [
    `type='signal',sender='${daemon.destination}',interface='${daemon.interface}',member='NameOwnerChanged',arg0='${sender}'`,
    `type='signal',sender='${sender}',path='${path}',interface='${source.interface}',member='${member}'`,
  ];
}

const signalType = 4;

function isFrom(message: Message, source: SignalSource): boolean {
  return (
    message.type === signalType &&
    message.path === source.path &&
    message.interface === source.interface &&
    message.member === source.member
  );
}

function isOwnerChange(message: Message, name: string): boolean {
  const isDaemon = message.type === signalType && message.sender === daemon.destination;
  return isDaemon && message.member === 'NameOwnerChanged' && message.body?.[0] === name;
}
