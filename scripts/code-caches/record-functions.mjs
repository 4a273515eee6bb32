// Loaded into a server before its entry (`node --import`): at its end each thread writes which functions of the bundles it has run,
// `BUNDLE.PID.THREAD.json` in the folder CODE_CACHE_RECORDS, as their first positions.
//
// What runs must not depend on the machine. So time stands still: timers that are not due at once never are. Random numbers are the same
// ones each time; cores, interfaces and the user are those of one machine, whatever the real one has.
import crypto from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import workerThreads from 'node:worker_threads';

const { setTimeout, setInterval } = globalThis;
const folder = process.env.CODE_CACHE_RECORDS;
/** The folder of built code: an entry is there. */
const built = `${pathToFileURL(dirname(process.argv[1])).href}/`;
/** Milliseconds: shorter timers only let other work go first. */
const SOON = 20;
const MOMENT = { milliseconds: Date.UTC(2026), elapsed: 100, seconds: 1_000 };
const NEVER = 2 ** 31 - 1;
/** Milliseconds between two looks at what the main thread does. */
const IDLE = 100;

/** The same in all threads. */
function stopTime() {
  Date.now = () => MOMENT.milliseconds;
  performance.now = () => MOMENT.elapsed;
  process.hrtime = Object.assign(() => [MOMENT.seconds, 0], {
    bigint: () => BigInt(MOMENT.seconds) * 10n ** 9n,
  });
  globalThis.setTimeout = (run, milliseconds = 0, ...words) =>
    setTimeout(run, milliseconds <= SOON ? milliseconds : NEVER, ...words);
  globalThis.setInterval = (run, _milliseconds, ...words) => setInterval(run, NEVER, ...words);
}

/** In order: a linear congruential generator. */
function orderRandomNumbers() {
  let state = 1;
  const draw = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const fill = (view) => {
    const octets = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (const at of octets.keys()) octets[at] = draw() * 256;
    return view;
  };
  Math.random = draw;
  crypto.randomFillSync = fill;
  crypto.randomBytes = (length) => fill(Buffer.alloc(length));
  crypto.randomInt = (...bounds) => {
    const [least, end] = bounds.length > 1 ? bounds : [0, ...bounds];
    return least + Math.floor(draw() * (end - least));
  };
}

function describeMachine() {
  const loopback = { family: 'IPv4', internal: true, mac: '00:00:00:00:00:00' };
  const lo = { ...loopback, address: '127.0.0.1', netmask: '255.0.0.0', cidr: '127.0.0.1/8' };
  os.availableParallelism = () => 2;
  os.networkInterfaces = () => ({ lo: [lo] });
  // A user without rights.
  process.getuid = () => 65_532;
  process.geteuid = process.getuid;
}

/** Until the thread does nothing for a while. */
async function untilIdle() {
  let before = performance.eventLoopUtilization();
  for (let isIdle = false; !isIdle; ) {
    await new Promise((done) => setTimeout(done, IDLE));
    const now = performance.eventLoopUtilization();
    isIdle = performance.eventLoopUtilization(now, before).active < IDLE / 20;
    before = now;
  }
}

/** The threads of the server set no option of Node.js, and would not load this. */
function loadIntoThreads() {
  const { Worker } = workerThreads;
  workerThreads.Worker = class extends Worker {
    constructor(entry, options) {
      super(entry, { ...options, execArgv: [`--import=${import.meta.url}`] });
    }
  };
}

function record() {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: false });
  const write = () => {
    session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
      for (const { url, functions } of result)
        if (url.startsWith(built) && url.endsWith('.cjs')) {
          const ran = functions.filter(({ ranges }) => ranges[0].count > 0);
          const file = `${basename(url, '.cjs')}.${process.pid}.${workerThreads.threadId}.json`;
          writeFileSync(join(folder, file), JSON.stringify(ran.map(({ ranges }) => ranges[0].startOffset)));
        }
    });
    session.disconnect();
  };
  if (!workerThreads.isMainThread) process.once('exit', write);
  // Before the main thread stops, which a start does not need.
  else {
    // The build is gone.
    const leave = () => process.exit(1);
    process.once('disconnect', leave);
    process.once('message', async () => {
      await untilIdle();
      write();
      process.off('disconnect', leave);
      process.disconnect();
      // Not by the kernel, which may interrupt a reader.
      process.emit('SIGTERM', 'SIGTERM');
    });
  }
}

stopTime();
orderRandomNumbers();
describeMachine();
loadIntoThreads();
syncBuiltinESMExports();
record();
