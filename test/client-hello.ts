// The ClientHello of Node's own TLS client, for tests that send it in parts or not at all.
import { duplexPair } from 'node:stream';
import { connect } from 'node:tls';

export function clientHello(): Promise<Buffer> {
  const [client, other] = duplexPair();
  const socket = connect({ socket: client, servername: 'localhost' }).on('error', () => {});
  return new Promise((resolve) => {
    other.once('data', (bytes: Buffer) => {
      resolve(bytes);
      socket.destroy();
    });
  });
}
