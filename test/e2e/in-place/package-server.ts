// A repository of packages inside a cluster's network: `node package-server.ts FOLDER ADDRESS` serves a folder by HTTP
// and prints its URL.
import { serveRepository } from '../../oracle/payload/package-repository.ts';

const [folder = '', address = ''] = process.argv.slice(2);
const { url } = await serveRepository(folder, address);
process.stdout.write(`${url}\n`);
