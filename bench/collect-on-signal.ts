/**
 * Loaded into the server before its own code, where its memory is measured: SIGUSR2 collects garbage, so that what is
 * counted is what the server holds and not when V8 last found time to clean up.
 *
 * Asked through the inspector's protocol, inside the process, V8 also gives memory back that it no longer needs.
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
