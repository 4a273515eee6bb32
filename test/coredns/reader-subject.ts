/**
 * A Corefile with the answers of readers and of its chain, to compare them.
 */

import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { silentLog } from '../../src/base/log.ts';
import { planOf } from '../../src/config/corefile/testing/plan-of.ts';
import { loadPlugins } from '../../src/contract/plugin-use.ts';
import { Engine } from '../../src/engine/engine.ts';
import { autopath } from '../../src/plugins/autopath/plugin.ts';
import { etcd } from '../../src/plugins/etcd/plugin.ts';
import { etcdZones } from '../../src/plugins/etcd-zones/plugin.ts';
import { kubernetai } from '../../src/plugins/kubernetai/plugin.ts';
import { kubernetes } from '../../src/plugins/kubernetes/plugin.ts';
import { encodeSocketAddress } from '../../src/socket/addresses.ts';
import { query } from '../../src/table/testing/table-answers.ts';
import { VERDICT } from '../../src/table/types.ts';
import { decodeMessage } from '../../src/wire/message.ts';
import type { ClientTransport } from '../../src/wire/response-size.ts';
import type { Message } from '../../src/wire/types.ts';

// A constructor cannot wait.
await loadPlugins([
  { definition: autopath },
  { definition: etcd },
  { definition: etcdZones },
  { definition: kubernetai },
  { definition: kubernetes },
]);

const AT = 8192;
const CLIENT = { address: '192.0.2.77', port: 5353 };
export const SERVER = 'dns://:53';

export class ReaderSubject {
  readonly engine: Engine;
  readonly #clock: Clock;
  #isStopped = false;

  /** @param isStrict as with `-compat` */
  constructor(corefile: string, clock: Clock = systemClock, isStrict = false) {
    this.#clock = clock;
    this.engine = new Engine(
      { ...planOf(corefile), isStrict },
      {
        readers: 0,
        version: 'test',
        clock,
        log: silentLog,
      },
    );
    onTestFinished(() => this.stop());
  }

  stop(): void {
    if (!this.#isStopped) this.engine.stop();
    this.#isStopped = true;
  }

  /** @returns nothing where the chain is to answer */
  askTable(
    packet: Uint8Array,
    group = this.engine.listenerGroupOf(SERVER),
    transport: ClientTransport = 'udp',
    client = CLIENT,
  ): Message | undefined {
    const octets = new Uint8Array(AT + 32);
    octets.set(packet);
    octets.set(encodeSocketAddress(client), AT);
    this.engine.reader.setTime(this.#clock.monotonic());
    const end = this.engine.reader.answer(octets, 0, packet.length, 4096, transport, group, AT);
    return end === VERDICT.ASK ? undefined : decodeMessage(octets.slice(0, end));
  }

  async askChain(
    packet: Uint8Array,
    transport: ClientTransport = 'udp',
    client = CLIENT,
  ): Promise<Message | undefined> {
    const handle = this.engine.serverBlocks.handleQueryOf(SERVER);
    const response = await handle?.(packet, { ...client, transport });
    return response && decodeMessage(response);
  }
}

export const packetOf = (name: string, type: string, changes: Parameters<typeof query>[2] = {}) => {
  const { packet, length } = query(name, type, changes);
  return packet.slice(0, length);
};

/** All that must be the same: sets of addresses may begin anywhere. */
export const contentOf = ({ header, questions, answers, authorities, additionals, edns }: Message) => ({
  header: { ...header, id: 0 },
  questions,
  // A cache keeps the letters of the question that it asked.
  answers: answers.map((record) => JSON.stringify(record).toLowerCase()).sort(),
  authorities: authorities.map((record) => JSON.stringify(record).toLowerCase()),
  additionals: additionals.map((record) => JSON.stringify(record).toLowerCase()).sort(),
  edns,
});
