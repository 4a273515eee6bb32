/**
 * Probes whether DNS is answered on the way that packets of pods take: through PREROUTING and INPUT of the node.
 *
 * A pair of interfaces is a pod without a pod: frames that a packet socket sends from its far end arrive at the near end as those of a pod
 * do at theirs, and the answers come back. A query over UDP and the first packet of a TCP connection must be answered for each address.
 * The capabilities NET_ADMIN and NET_RAW suffice.
 *
 * The pair stays if the process is killed, and does no harm. The next process removes pairs that no packet socket uses.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { formatAddress, parseAddress } from '@portolan/dns/address.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { ProgramError, type RunProgram } from '@portolan/kernel/base/run-program.ts';
import { randomId } from '@portolan/kernel/forward/transport/random-ids.ts';
import { PacketSocket, PacketSocketError } from '@portolan/kernel/socket/packet-socket.ts';
import { statusQuery } from './local-probe.ts';
import {
  type Arrival,
  type FrameEnds,
  readFrame,
  TCP_ACK,
  TCP_RST,
  TCP_SYN,
  tcpFrame,
  udpFrame,
} from './probe-frames.ts';

/** Milliseconds that the answers may take. */
const TIMEOUT = 1_000;
/** Milliseconds between two looks for answers. */
const PAUSE = 5;
/** Milliseconds until a pair that could not be made is tried again. */
const RETRY = 60_000;
const NAME = /^(portolan[0-9a-f]{4})f$/;
/** An interface of this hardware address is not there, so the node hands its packets to the packet socket and to nobody else. */
const NOBODY = Uint8Array.of(0x02, 0x70, 0x6f, 0x72, 0x74, 0x02);
const NEAR = Uint8Array.of(0x02, 0x70, 0x6f, 0x72, 0x74, 0x01);

export interface PathProbeOptions {
  readonly port: number;
  readonly run: RunProgram;
  readonly clock: Clock;
}

interface PairEnd {
  /** The end that is in the place of the node's end of a pod. */
  readonly name: string;
  readonly socket: PacketSocket;
  readonly sources: { readonly v4: string; readonly v6: string };
}

/** What is waited for. */
interface Expected {
  readonly ends: FrameEnds;
  readonly protocol: 'udp' | 'tcp';
  readonly id: number;
}

/** `impossible`: the node or the container does not allow the probe. */
export type PathOutcome = 'answered' | 'silent' | 'impossible';

export class PathProbe {
  readonly #options: PathProbeOptions;
  #pair: PairEnd | undefined;
  #retryAt = Number.NEGATIVE_INFINITY;
  /** Why there is no pair. */
  #fault: string | undefined;
  /** Of the last probe, the first one without an answer: `169.254.20.10 over UDP`. */
  #unanswered: string | undefined;

  constructor(options: PathProbeOptions) {
    this.#options = options;
  }

  /** Why probes are impossible; undefined: they are possible. */
  get fault(): string | undefined {
    return this.#fault;
  }

  get unanswered(): string | undefined {
    return this.#unanswered;
  }

  /** Probes all addresses at once, over UDP and TCP. Never rejects. */
  async probe(addresses: readonly string[]): Promise<PathOutcome> {
    try {
      const pair = await this.#prepare(addresses);
      if (pair === undefined) return 'impossible';
      return (await this.#exchange(pair, addresses)) ? 'answered' : 'silent';
    } catch (error) {
      if (!(error instanceof ProgramError) && !(error instanceof PacketSocketError)) throw error;
      await this.remove();
      this.#fault = error.message;
      this.#retryAt = this.#options.clock.monotonic() + RETRY;
      return 'impossible';
    }
  }

  /** Takes the pair away. Never rejects. */
  async remove(): Promise<void> {
    const pair = this.#pair;
    this.#pair = undefined;
    if (pair === undefined) return;
    pair.socket.close();
    await this.#ip(`link delete ${pair.name}`).catch(() => {});
  }

  async #prepare(addresses: readonly string[]): Promise<PairEnd | undefined> {
    if (this.#pair !== undefined) return this.#pair;
    if (this.#options.clock.monotonic() < this.#retryAt) return undefined;
    await this.#removeAbandoned();
    this.#pair = await this.#makePair(addresses);
    this.#fault = undefined;
    return this.#pair;
  }

  async #makePair(addresses: readonly string[]): Promise<PairEnd> {
    const random = randomBytes(7);
    const name = `portolan${random.toString('hex', 0, 2)}`;
    const near = `${name}n`;
    const far = `${name}f`;
    const sources = {
      // Addresses of benchmarks (RFC 2544), which no cluster has.
      v4: `198.${18 + ((random[2] ?? 0) & 1)}.${random[3]}.${1 + ((random[4] ?? 0) % 254)}`,
      v6: `fd${random.toString('hex', 2, 3)}:${random.toString('hex', 3, 5)}:${random.toString('hex', 5, 7)}::1`,
    };
    await this.#ip(`link add ${near} address ${formatHardwareAddress(NEAR)} type veth peer name ${far}`);
    try {
      await this.#ip(`link set ${far} up`, `link set ${near} up`);
      for (const isIpv6 of new Set(addresses.map((address) => address.includes(':')))) {
        const source = isIpv6 ? sources.v6 : sources.v4;
        await this.#ip(
          `neighbour replace ${source} lladdr ${formatHardwareAddress(NOBODY)} dev ${near} nud permanent`,
          `route replace ${source}/${isIpv6 ? 128 : 32} dev ${near}`,
        );
      }
      const [, index] = /^(\d+):/.exec(await this.#ip(`-oneline link show dev ${far}`)) ?? [];
      return { name: near, socket: new PacketSocket(Number(index)), sources };
    } catch (error) {
      await this.#ip(`link delete ${near}`).catch(() => {});
      throw error;
    }
  }

  /** Pairs of processes that were killed. */
  async #removeAbandoned(): Promise<void> {
    const links = await this.#ip('-oneline link show type veth');
    const used = new Set(
      (await readFile('/proc/net/packet', 'utf8').catch(() => '')).split('\n').map(parseInterfaceIndex),
    );
    for (const line of links.split('\n')) {
      const [, index = '', name = ''] = /^(\d+): ([^:@]+)/.exec(line) ?? [];
      const [, pair] = NAME.exec(name) ?? [];
      if (pair !== undefined && !used.has(index)) await this.#ip(`link delete ${pair}n`).catch(() => {});
    }
  }

  async #exchange({ socket, sources }: PairEnd, addresses: readonly string[]): Promise<boolean> {
    const { port, clock } = this.#options;
    // Of an earlier probe.
    while (socket.receive() !== undefined);
    const open = new Set<Expected>();
    for (const address of addresses)
      for (const protocol of ['udp', 'tcp'] as const) {
        const ends: FrameEnds = {
          from: NOBODY,
          to: NEAR,
          destination: address,
          destinationPort: port,
          source: address.includes(':') ? sources.v6 : sources.v4,
          sourcePort: 1024 + (randomId() % 64_000),
        };
        const id = randomId();
        open.add({ ends, protocol, id });
        socket.send(protocol === 'udp' ? udpFrame(ends, statusQuery(id)) : tcpFrame(ends, TCP_SYN, id));
      }
    const end = clock.monotonic() + TIMEOUT;
    for (;;) {
      // Late, if this thread was busy: answers that have arrived are read before time is up.
      const isLate = clock.monotonic() >= end;
      readAnswers(socket, open);
      if (open.size === 0 || isLate) break;
      await new Promise<void>((resolve) => void clock.after(PAUSE, resolve));
    }
    const [first] = open;
    this.#unanswered = first && `${first.ends.destination} over ${first.protocol.toUpperCase()}`;
    return first === undefined;
  }

  /** Runs `ip`, once for each text. @returns the last output @throws ProgramError */
  async #ip(...texts: readonly string[]): Promise<string> {
    let output = '';
    for (const text of texts) output = await this.#options.run({ program: 'ip', words: text.split(' ') });
    return output;
  }
}

/** Takes away what is answered. */
function readAnswers(socket: PacketSocket, open: Set<Expected>): void {
  for (let frame = socket.receive(); frame !== undefined; frame = socket.receive()) {
    const arrival = readFrame(frame);
    const answered = [...open].find((each) => arrival !== undefined && isAnswer(arrival, each));
    if (arrival === undefined || answered === undefined) continue;
    open.delete(answered);
    // So that the server does not repeat its part of a connection that will not be.
    if (answered.protocol === 'tcp') socket.send(tcpFrame(answered.ends, TCP_RST, arrival.acknowledged));
  }
}

/** As the kernel writes it into packets. */
function normalAddress(address: string): string {
  const octets = parseAddress(address);
  return octets === undefined ? address : formatAddress(octets);
}

const formatHardwareAddress = (hardwareAddress: Uint8Array): string =>
  [...hardwareAddress].map((octet) => octet.toString(16).padStart(2, '0')).join(':');

/** Of a line of `/proc/net/packet`, the number of the interface. */
const parseInterfaceIndex = (line: string): string => line.trim().split(/\s+/)[4] ?? '';

function isAnswer(arrival: Arrival, { ends, protocol, id }: Expected): boolean {
  if (arrival.protocol !== protocol || arrival.destinationPort !== ends.sourcePort) return false;
  if (arrival.sourcePort !== ends.destinationPort || arrival.source !== normalAddress(ends.destination))
    return false;
  const { payload, flags, acknowledged } = arrival;
  if (protocol === 'tcp') return flags === (TCP_SYN | TCP_ACK) && acknowledged === id + 1;
  return payload.length >= 2 && (payload[0] ?? 0) * 256 + (payload[1] ?? 0) === id;
}
