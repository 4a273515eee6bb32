/**
 * The API server double as a process: serves the cluster that its argument describes, and changes it on request.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ApiServerDouble } from '../test/api-server/api-server.ts';
import { type Notice, type Order, PROBE } from './api-server-orders.ts';
import {
  type ClusterShape,
  countSlices,
  describeCluster,
  isHeadless,
  LARGE_SERVICE,
  largeSlice,
  podAddress,
} from './cluster.ts';
import { makeObjects, serviceObject, sliceObject } from './kubernetes-objects.ts';
import { machineTime } from './machine.ts';

/** Addresses from here on belong to endpoints that have changed. */
const FIRST_CHANGED_ADDRESS = 4_000_000;
const CHANGED_ADDRESSES = 1_000_000;
const TICK_MILLISECONDS = 5;

const notify = (notice: Notice) => process.send?.(notice);

/** Keeps up a rate of changes, whatever timers do. */
class Changes {
  readonly #startedAt = machineTime();
  readonly #timer: NodeJS.Timeout;
  #made = 0;

  /** @param change makes a change, of which it gets the number */
  constructor(perSecond: number, change: (number: number) => void) {
    this.#timer = setInterval(() => {
      const due = ((machineTime() - this.#startedAt) * perSecond) / 1000;
      while (this.#made < due) change(this.#made++);
    }, TICK_MILLISECONDS);
  }

  stop(): Notice {
    clearInterval(this.#timer);
    return {
      kind: 'changes-stopped',
      changes: this.#made,
      milliseconds: machineTime() - this.#startedAt,
    };
  }
}

function changeService(number: number): void {
  const service = headless[number % headless.length];
  if (service === undefined) return;
  const address = podAddress(FIRST_CHANGED_ADDRESS + (number % CHANGED_ADDRESSES));
  const [first, ...others] = service.endpoints;
  double.put(sliceObject(service, [{ hostname: first?.hostname ?? service.name, address }, ...others]));
}

function putSlice(slice: number, change: number): void {
  double.put(sliceObject(LARGE_SERVICE, largeSlice(slice, change), `s${slice}`));
}

function tellFirstAnswer(): void {
  const channel = 'http.server.response.finish';
  const tell = () => {
    unsubscribe(channel, tell);
    notify({ kind: 'first-answer', at: machineTime() });
  };
  subscribe(channel, tell);
}

const shape = JSON.parse(process.argv[2] ?? '{}') as ClusterShape; // Written by `api-server.ts`.
const cluster = describeCluster(shape);
const headless = cluster.services.filter(isHeadless);
const double = await ApiServerDouble.start({
  objects: [...makeObjects(cluster), serviceObject(PROBE)],
  protobuf: true,
  tls: 'server',
});
const slices = countSlices(shape);
if (slices > 0) double.put(serviceObject(LARGE_SERVICE));
for (let slice = 0; slice < slices; slice += 1) putSlice(slice, slice);
let changes: Changes | undefined;

process.on('message', (order: Order) => {
  if (order.kind === 'point-probe') {
    const at = machineTime();
    double.put(sliceObject(PROBE, [{ hostname: 'probe-0', address: order.address }]));
    notify({ kind: 'probe-pointed', at });
  } else if (order.kind === 'start-changes') changes = new Changes(order.perSecond, changeService);
  else if (order.kind === 'start-slices')
    changes = new Changes(order.perSecond, (number) => putSlice(number % slices, slices + number));
  else if (changes !== undefined) notify(changes.stop());
});
// The process that started it is gone.
process.on('disconnect', () => process.exit());

tellFirstAnswer();
notify({ kind: 'listening', url: double.url });
