/**
 * A client that asks from few source ports, each again and again. It reads `pause`, `go` and `end` from its input, and says `paused` when
 * every query is settled. At its end it prints how many were answered and lost.
 *
 *     reused-ports-process.ts ADDRESS PORT QUERY      the query in hexadecimal digits
 */
import { createSocket, type Socket } from 'node:dgram';
import { createInterface } from 'node:readline';

const FIRST_PORT = 40_000;
const PORTS = 100;
/** Milliseconds between two queries: each port asks once a second. */
const INTERVAL = 10;
/** Milliseconds after which a query is lost. */
const PATIENCE = 5_000;

const [address = '', port = '', query = ''] = process.argv.slice(2);
const message = Buffer.from(query, 'hex');

class Asker {
  readonly #socket: Socket = createSocket('udp4');
  answered = 0;
  lost = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(source: number) {
    this.#socket.bind(source);
    this.#socket.on('message', () => this.#settle('answered'));
    // The port of an ended server.
    this.#socket.on('error', () => this.#settle('lost'));
    this.#socket.once('listening', () => this.#socket.connect(Number(port), address));
  }

  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  ask(): void {
    if (this.isWaiting) return;
    this.#timer = setTimeout(() => this.#settle('lost'), PATIENCE);
    this.#socket.send(message);
  }

  #settle(how: 'answered' | 'lost'): void {
    if (!this.isWaiting) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this[how] += 1;
  }
}

const askers = Array.from({ length: PORTS }, (_, index) => new Asker(FIRST_PORT + index));
let turn = 0;
let isPaused = false;
const sum = (how: 'answered' | 'lost') => askers.reduce((total, asker) => total + asker[how], 0);
const report = () => `${JSON.stringify({ answered: sum('answered'), lost: sum('lost') })}\n`;

const ticks = setInterval(() => {
  if (isPaused) return;
  askers[turn++ % PORTS]?.ask();
}, INTERVAL);
/** Calls `run` when no query waits for its answer. */
const whenSettled = (run: () => void): void => {
  if (askers.some((asker) => asker.isWaiting)) setTimeout(() => whenSettled(run), INTERVAL);
  else run();
};
createInterface(process.stdin).on('line', (word) => {
  isPaused = word !== 'go';
  if (word === 'go') return;
  whenSettled(() => {
    process.stdout.write(word === 'end' ? report() : `paused ${report()}`);
    if (word === 'end') process.exit(0);
  });
});
ticks.ref();
