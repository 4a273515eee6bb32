/**
 * Batches of packets in seats, as in a reader's thread, and their rule: a reader writes only into the seat of the
 * current packet, and only if it answers; its verdict on a packet does not depend on other packets.
 *
 * The seats work as in `PacketBatch`, without its socket: an unanswered packet changes places with the next answered one.
 */
import type { ClientTransport } from '@portolan/dns/response-size.ts';
import fc from 'fast-check';
import { TableReader } from '../reader.ts';
import { wire } from './table-answers.ts';

/** A question that the table can answer. Packets ask for its name with other types too. */
export interface SeatQuestion {
  readonly name: string;
  readonly type: number;
}

/** A table with answers, and how to query it. */
export interface SeatSubject {
  readonly memory: SharedArrayBuffer;
  /** The number of its reader. */
  readonly reader: number;
  readonly udpSize: number;
  /** Listener groups. */
  readonly groups: readonly number[];
  /** All addresses of a set that rotates must be the same: where it begins is drawn at random. */
  readonly questions: readonly SeatQuestion[];
  /** Milliseconds of the monotonic clock when the answers were stored. */
  readonly stored: number;
}

/** The verdicts on the packets. */
export interface SeatCounts {
  answered: number;
  asked: number;
  dropped: number;
}

interface SeatShape {
  readonly seats: number;
  readonly octets: number;
  readonly transport: ClientTransport;
}

interface AskedBatch {
  /** Seconds since the answers were stored. */
  readonly age: number;
  readonly group: number;
  readonly packets: readonly AskedPacket[];
}

interface AskedPacket {
  /** In hexadecimal, so that a counterexample can be read. */
  readonly octets: string;
  readonly client: keyof typeof CLIENTS;
}

/** A reader's batches; for the fallback and TCP, one seat as large as a message. */
const UDP_SHAPES: readonly SeatShape[] = [1280, 4096].map((octets) => ({
  seats: 64,
  transport: 'udp',
  octets,
}));
const MESSAGE_SHAPES: readonly SeatShape[] = (['udp', 'tcp'] as const).map((transport) => ({
  seats: 1,
  transport,
  octets: 65_535,
}));

const OTHER_TYPES = [1, 28, 16, 12, 33, 43, 255, 252, 65_535] as const;
const UDP_SIZES = [512, 512, 0, 700, 1232, 4096, 65_535] as const;
const CLIENT_OCTETS = 32;
/** Octets of a `struct sockaddr_in` and a `struct sockaddr_in6`. */
const CLIENTS = {
  '192.0.2.77': Uint8Array.of(2, 0, 0x15, 0xb3, 192, 0, 2, 77),
  '10.0.0.1': Uint8Array.of(2, 0, 0x15, 0xb3, 10, 0, 0, 1),
  '2001:db8::7': Uint8Array.of(10, 0, 0x15, 0xb3, 0, 0, 0, 0, 0x20, 1, 0x0d, 0xb8, ...new Uint8Array(11), 7),
} as const;
/** A third of all batches are full; shrinking can leave out packets one by one. */
const MAX_DRAWN = 96;

/**
 * Gives many batches to a reader, and each packet also to a fresh reader.
 *
 * @param numRuns of several batches each
 * @returns counts of verdicts, so that a test can show that it covered them
 * @throws Error with the octet that was written, or the answer that differs
 */
export function expectOtherSeatsUntouched(subject: SeatSubject, numRuns: number): SeatCounts {
  const counts: SeatCounts = { answered: 0, asked: 0, dropped: 0 };
  const expectUntouched = (shapes: readonly SeatShape[], maxBatches: number, runs: number): void => {
    const shape = fc.constantFrom(...shapes);
    const batches = fc.array(makeBatchArbitrary(subject), {
      minLength: 2,
      maxLength: maxBatches,
      size: 'max',
    });
    fc.assert(
      fc.property(shape, batches, (drawn, asked) => {
        const seats = new PacketSeats(subject, drawn, counts);
        for (const batch of asked) seats.answerBatch(batch);
      }),
      { numRuns: runs },
    );
  };
  expectUntouched(UDP_SHAPES, 6, numRuns);
  expectUntouched(MESSAGE_SHAPES, 2, Math.ceil(numRuns / 50));
  return counts;
}

function makeBatchArbitrary({ questions, groups }: SeatSubject): fc.Arbitrary<AskedBatch> {
  const octets = makePacketArbitrary(questions).map((each) => Buffer.from(each).toString('hex'));
  const client = fc.constantFrom('192.0.2.77', '10.0.0.1', '2001:db8::7');
  const packets = fc.array(fc.record({ octets, client }), {
    minLength: 1,
    maxLength: MAX_DRAWN,
    size: 'max',
  });
  const age = fc.oneof(fc.constant(0), fc.nat(250));
  return fc.record({ age, group: fc.constantFrom(...groups), packets });
}

interface Asked extends SeatQuestion {
  readonly dnsClass: number;
  /** RD, AD, CD and random other bits. */
  readonly flags: number;
  readonly capitals: number;
  /** -1: no OPT record. */
  readonly udpSize: number;
  readonly dnssecOk: boolean;
  readonly options: number;
}

function makePacketArbitrary(questions: readonly SeatQuestion[]): fc.Arbitrary<Uint8Array> {
  const question = fc
    .tuple(fc.constantFrom(...questions), fc.option(fc.constantFrom(...OTHER_TYPES), { freq: 2 }))
    .map(([{ name, type }, other]) => ({ name, type: other ?? type }));
  const manner = fc.record({
    dnsClass: fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 3),
    flags: fc.constantFrom(0x100, 0x100, 0x100, 0, 0x110, 0x120),
    capitals: fc.nat(0xffff),
    udpSize: fc.constantFrom(-1, ...UDP_SIZES),
    dnssecOk: fc.nat(7).map((drawn) => drawn === 0),
    options: fc.constantFrom(0, 0, 0, 0, 12, 300),
  });
  const asked = fc.tuple(question, manner).map(([what, how]): Asked => ({ ...what, ...how }));
  const sound = fc.tuple(fc.nat(0xffff), asked).map(([id, each]) => encodeQuery(id, each));
  const changes = fc.array(fc.tuple(fc.nat(600), fc.nat(255)), { minLength: 1, maxLength: 4 });
  const broken = fc
    .tuple(sound, changes, fc.nat(60), fc.uint8Array({ maxLength: 40 }))
    .map(([octets, places, cut, tail]) => {
      const whole = Uint8Array.from([
        ...octets.subarray(0, octets.length - (cut > 40 ? cut - 40 : 0)),
        ...tail,
      ]);
      for (const [at, value] of places) whole[at % whole.length] = value;
      return whole;
    });
  const any = fc.uint8Array({ maxLength: 1280, size: 'max' });
  return fc.oneof(
    { weight: 30, arbitrary: sound },
    { weight: 5, arbitrary: broken },
    { weight: 1, arbitrary: any },
  );
}

function encodeQuery(id: number, asked: Asked): Uint8Array {
  const { name, type, dnsClass, flags, capitals, udpSize, dnssecOk, options } = asked;
  const octets = [id >> 8, id & 0xff, flags >> 8, flags & 0xff, 0, 1, 0, 0, 0, 0, 0, udpSize < 0 ? 0 : 1];
  for (const [at, octet] of wire(name).entries()) {
    const isCapital = octet >= 0x61 && octet <= 0x7a && ((capitals >> (at & 15)) & 1) === 1;
    octets.push(isCapital ? octet - 0x20 : octet);
  }
  octets.push(type >> 8, type & 0xff, 0, dnsClass);
  if (udpSize < 0) return Uint8Array.from(octets);
  octets.push(0, 0, 41, udpSize >> 8, udpSize & 0xff, 0, 0, dnssecOk ? 0x80 : 0, 0);
  octets.push(options >> 8, options & 0xff);
  // One option, padding (RFC 7830).
  if (options > 0)
    octets.push(0, 12, (options - 4) >> 8, (options - 4) & 0xff, ...new Array(options - 4).fill(0));
  return Uint8Array.from(octets);
}

/** One reader and the memory of its packets. */
class PacketSeats {
  readonly #subject: SeatSubject;
  readonly #shape: SeatShape;
  readonly #counts: SeatCounts;
  readonly #reader: TableReader;
  /** The seats, then the address of the client of each. */
  readonly #octets: Buffer;
  /** The expected octets. */
  readonly #expected: Buffer;
  /** The seat of a packet that is answered without others. */
  readonly #alone: Buffer;
  /** The seat of each packet of a batch. */
  readonly #seats: number[];

  constructor(subject: SeatSubject, shape: SeatShape, counts: SeatCounts) {
    this.#subject = subject;
    this.#shape = shape;
    this.#counts = counts;
    this.#reader = new TableReader(subject.memory, subject.reader, subject.udpSize);
    const size = shape.seats * (shape.octets + CLIENT_OCTETS);
    this.#octets = Buffer.alloc(size);
    this.#expected = Buffer.alloc(size);
    this.#alone = Buffer.alloc(shape.octets + CLIENT_OCTETS);
    this.#seats = Array.from({ length: shape.seats }, (_, seat) => seat);
  }

  /** Packets beyond the seats are dropped; with one seat, each packet is its own batch. */
  answerBatch({ age, group, packets }: AskedBatch): void {
    const { seats } = this.#shape;
    if (seats === 1) for (const packet of packets) this.#answerSeats(age, group, [packet]);
    else this.#answerSeats(age, group, packets.slice(0, seats));
  }

  #answerSeats(age: number, group: number, packets: readonly AskedPacket[]): void {
    const now = this.#subject.stored + age * 1000;
    const lengths = packets.map((packet, index) => this.#take(packet, index));
    this.#octets.copy(this.#expected);
    this.#reader.enter();
    this.#reader.setTime(now);
    let answers = 0;
    for (const [index, length] of lengths.entries())
      if (this.#answerPacket(index, length, group, now) > 0) this.#swap(answers++, index);
    this.#reader.leave();
  }

  /** Takes a packet into its seat. @returns its octets */
  #take({ octets, client }: AskedPacket, index: number): number {
    const packet = Buffer.from(octets, 'hex');
    this.#octets.set(packet, this.#locatePacket(index));
    this.#octets.set(CLIENTS[client], this.#locateClient(index));
    return packet.length;
  }

  #answerPacket(index: number, length: number, group: number, now: number): number {
    const { octets: capacity, transport } = this.#shape;
    const start = this.#locatePacket(index);
    const client = this.#locateClient(index);
    const alone = this.#answerAlone(index, length, group, now);
    const verdict = this.#reader.answer(this.#octets, start, length, capacity, transport, group, client);
    if (verdict !== alone.verdict)
      throw new Error(`packet ${index}: ${verdict} in its batch, ${alone.verdict} by itself`);
    if (verdict > 0) {
      this.#octets.copy(this.#expected, start, start, start + Math.max(verdict, length));
      const isSame = this.#alone.compare(this.#octets, start, start + verdict, 0, verdict) === 0;
      if (!isSame) throw new Error(`packet ${index}: another answer than by itself`);
    } else if (this.#reader.route !== alone.route || this.#reader.expired !== alone.expired)
      throw new Error(`packet ${index}: left open otherwise than by itself`);
    if (!this.#octets.equals(this.#expected)) throw new Error(this.#describeFault(index, verdict));
    this.#count(verdict);
    return verdict;
  }

  /** Answers a packet with a fresh reader, in memory of its own. */
  #answerAlone(index: number, length: number, group: number, now: number) {
    const { memory, reader: number, udpSize } = this.#subject;
    const { octets: capacity, transport } = this.#shape;
    const start = this.#locatePacket(index);
    const client = this.#locateClient(index);
    this.#alone.fill(0xa5, 0, capacity);
    this.#octets.copy(this.#alone, 0, start, start + length);
    this.#octets.copy(this.#alone, capacity, client, client + CLIENT_OCTETS);
    const reader = new TableReader(memory, number, udpSize);
    reader.setTime(now);
    const verdict = reader.answer(this.#alone, 0, length, capacity, transport, group, capacity);
    return { verdict, route: reader.route, expired: reader.expired };
  }

  #describeFault(index: number, verdict: number): string {
    const at = this.#octets.findIndex((octet, place) => octet !== this.#expected[place]);
    const seat = Math.floor(at / this.#shape.octets);
    const own = this.#seats[index];
    return `packet ${index} in seat ${own}, verdict ${verdict}: octet ${at - seat * this.#shape.octets} of seat ${seat} was written`;
  }

  #count(verdict: number): void {
    if (verdict > 0) this.#counts.answered++;
    else if (verdict < 0) this.#counts.asked++;
    else this.#counts.dropped++;
  }

  #swap(one: number, other: number): void {
    const seat = this.#seats[one] ?? 0;
    this.#seats[one] = this.#seats[other] ?? 0;
    this.#seats[other] = seat;
  }

  #locatePacket(index: number): number {
    return (this.#seats[index] ?? 0) * this.#shape.octets;
  }

  #locateClient(index: number): number {
    return this.#shape.seats * this.#shape.octets + (this.#seats[index] ?? 0) * CLIENT_OCTETS;
  }
}
