/**
 * Loaded into the server before its own code, for memory benchmarks: SIGUSR2 collects garbage, so that the result is the
 * memory that the server holds and does not depend on when V8 last collected garbage.
 *
 * A request by the inspector's protocol, inside the process, also makes V8 return memory that it no longer needs.
 */
import { Session } from 'node:inspector';

const session = new Session();
let isConnected = false;

process.on('SIGUSR2', () => {
  // Not before it is needed: a connection costs memory too. It stays, since an order may not end its own session.
  if (!isConnected) session.connect();
  isConnected = true;
  session.post('HeapProfiler.collectGarbage');
});
