/**
 * Forwards plain questions from the thread that received them: it asks the server that the main thread has chosen, judges the replies
 * in octets, and answers the clients.
 *
 * The main thread keeps what is policy: it says which server is asked, how long a reply may take and how many queries may be under
 * way, puts the replies into the cache, and takes over each question that is not answered plainly: one that is overdue, whose reply
 * is truncated, an error or not understood, or that the network refused. A slot is answered or taken over, never both.
 */
import { PacketBatch } from '../../socket/batch.ts';
import { ECONNREFUSED, MSG_DONTWAIT } from '../../socket/linux.ts';
import { Counters } from '../../table/counters.ts';
import type { QuestionReader } from '../../table/question.ts';
import { RCODE } from '../../wire/types.ts';
import { idOfReply, isBareError } from '../transport/query-message.ts';
import { NameExceptions } from './name-exceptions.ts';
import type { ClientPackets, OpenQuestion, ReaderPathData, ReaderPathOwner, TakenOver } from './owner.ts';
import { PendingQueries, STATE } from './pending-queries.ts';
import { isPlainQuestion } from './plain-question.ts';
import { PlainReplies } from './plain-replies.ts';
import { QueryRow } from './query-row.ts';
import type { OpenRoute, ReaderPolicy } from './reader-policy.ts';
import { RefusedQueries } from './refused-queries.ts';
import { ReplyHandover } from './reply-handover.ts';
import { COUNT, SharedWords } from './shared-words.ts';
import { type SocketKeeper, UpstreamSockets } from './upstream-sockets.ts';

/** Packets of a forger that a socket may receive. */
const MAX_SUSPICIOUS = 3;

export class ReaderForwarder implements SocketKeeper {
  readonly #owner: ReaderPathOwner;
  readonly #reader: number;
  readonly #open: OpenQuestion;
  readonly #words: SharedWords;
  readonly #counts: Float64Array;
  readonly #handover: ReplyHandover;
  readonly #pending = new PendingQueries();
  readonly #sockets: UpstreamSockets;
  readonly #row = new QueryRow((socket, errno, id) => this.#refused(socket, errno, id));
  readonly #counters: Counters;
  readonly #plain: PlainReplies;
  readonly #about: TakenOver = { ticket: 0, server: 0, elapsed: 0 };
  readonly #refusals = new RefusedQueries();
  #replies = new PacketBatch(0);
  #policy = 0;
  #generation = 0;
  #route: OpenRoute | undefined;
  #exceptions: NameExceptions;
  #tickets = 0;
  #now = 0;

  /**
   * @param table its memory, and the number that the reader counts answers by there
   * @param udpSize what our OPT records say, and responses over UDP may have at most
   */
  constructor(
    data: ReaderPathData,
    table: { readonly memory: SharedArrayBuffer; readonly reader: number },
    open: OpenQuestion,
    udpSize: number,
    owner: ReaderPathOwner,
  ) {
    this.#owner = owner;
    this.#reader = table.reader;
    this.#open = open;
    this.#plain = new PlainReplies(this.#pending, udpSize);
    this.#words = new SharedWords(data.words, data.readers);
    this.#counts = this.#words.counts.subarray(this.#words.countsOf(table.reader));
    this.#handover = new ReplyHandover(data.fills, table.memory, this.#pending, this.#plain);
    this.#sockets = new UpstreamSockets(this, data.maxSockets);
    this.#counters = new Counters(table.memory, table.reader);
    this.#exceptions = new NameExceptions([], (name) => open.hashOf(name));
    this.#follow(data.policy);
  }

  /** Whether replies may come: upstream sockets must be listened to. */
  get isWaiting(): boolean {
    const { lists } = this.#pending;
    return lists.first(STATE.WAITING) >= 0 || lists.first(STATE.TAKEN_OVER) >= 0;
  }

  /** Whether questions of clients are unanswered. */
  get isBusy(): boolean {
    return this.#pending.lists.first(STATE.WAITING) >= 0;
  }

  opened(socket: number, fd: number): boolean {
    this.#words.noteSocket(this.#reader, socket, fd);
    return this.#owner.watch(socket, fd);
  }

  closed(socket: number): void {
    this.#words.noteSocket(this.#reader, socket, -1);
    this.#owner.unwatch?.(socket);
  }

  /** Begins a batch of packets. @param now of the clock's monotonic time */
  begin(now: number): void {
    this.#now = now;
    // Before the policy: what an older policy led to must not count as of a newer generation.
    this.#generation = this.#words.generation;
    const policy = this.#words.policy === this.#policy ? undefined : this.#owner.receivePolicy();
    if (policy !== undefined) this.#follow(policy);
  }

  #follow({ number, route }: ReaderPolicy): void {
    const before = this.#route;
    this.#policy = number;
    this.#route = route;
    if (before?.server !== route?.server) this.#sockets.changePeer(route?.peer, route?.server ?? 0);
    if (route === undefined) return;
    if (this.#replies.packetSize < route.udpSize) this.#replies = new PacketBatch(route.udpSize);
    this.#exceptions = new NameExceptions(route.exceptions, (name) => this.#open.hashOf(name));
  }

  /**
   * Takes a packet of a client, whose question the table has just left open.
   *
   * @returns whether it does; if not, the main thread is to answer it
   */
  take(packets: ClientPackets, index: number, socket: number): boolean {
    const route = this.#route;
    if (route === undefined || !isPlainQuestion(packets, index, this.#open, route, this.#exceptions))
      return false;
    const pending = this.#pending;
    const { question } = this.#open;
    const hash = question.hashOfQuestion(0);
    const known = this.#findKnown(question, hash);
    const slot = known >= 0 ? known : this.#ask(route, question, hash, packets.startOf(index));
    if (slot < 0 || pending.state[slot] === STATE.TAKEN_OVER || !pending.hasRoomForClient) return false;
    const client = pending.join(slot, packets, index, packets.lengthOf(index), socket);
    pending.udpSize[client] = question.udpSize;
    pending.hasOpt[client] = question.hasOpt ? 1 : 0;
    pending.came[client] = this.#now;
    if (known < 0) {
      pending.group[slot] = this.#words.groupOf(pending.octets, pending.envelopeOf(client));
      this.#words.addRunning(this.#reader, pending.group[slot] ?? 0, 1);
    }
    if (pending.state[slot] === STATE.ANSWERED) this.#answerFromFill(route, slot, client);
    return true;
  }

  /** The slot of an equal question, or -1. */
  #findKnown(question: QuestionReader, hash: number): number {
    const pending = this.#pending;
    const slot = pending.find(question, hash, this.#generation);
    if (slot < 0 || pending.state[slot] !== STATE.ANSWERED) return slot;
    // Once its record was taken, another may lie there.
    if (!this.#handover.isTaken(slot)) return slot;
    pending.free(slot);
    return -1;
  }

  /** Asks upstream. @returns the slot, which has no client yet; -1 if that is not to be done here */
  #ask(route: OpenRoute, question: QuestionReader, hash: number, start: number): number {
    const pending = this.#pending;
    const words = this.#words;
    if (!pending.hasRoom || words.running >= route.limit) return -1;
    const socket = this.#sockets.pick(this.#now);
    if (socket < 0) return -1;
    const slot = pending.open(question, start, hash, socket);
    if (slot < 0) {
      this.#sockets.release(socket);
      return -1;
    }
    pending.generation[slot] = this.#generation;
    pending.askedAt[slot] = this.#now;
    pending.dueAt[slot] = this.#now + words.timeout;
    this.#count(COUNT.sent);
    this.#row.add(socket, this.#sockets.fds[socket] ?? -1, pending.id[slot] ?? 0, question, route);
    return slot;
  }

  /** Sends what was asked since `begin`. */
  flush(): void {
    this.#row.flush();
  }

  /** Receives what has come by an upstream socket. */
  receive(socket: number): void {
    const batch = this.#replies;
    const fd = this.#sockets.fds[socket] ?? -1;
    if (fd < 0) return;
    const count = batch.receive(fd, MSG_DONTWAIT);
    if (count <= 0) this.#readErrors(socket, count === 0 ? ECONNREFUSED : -count);
    for (let index = 0; index < count; index++) {
      this.#judge(socket, batch.startOf(index), batch.lengthOf(index), batch.isCut(index));
      if ((this.#sockets.suspicious[socket] ?? 0) > MAX_SUSPICIOUS) {
        this.#abandon(socket);
        return;
      }
    }
    if (this.#handover.needsWaking()) this.#owner.wake();
  }

  #judge(socket: number, start: number, length: number, isCut: boolean): void {
    const { octets } = this.#replies;
    const pending = this.#pending;
    const id = idOfReply(octets, start, length);
    const slot = id < 0 ? -1 : pending.slotOf(id, socket);
    if (slot < 0) {
      this.#count(COUNT.strange);
      if (id < 0 || !pending.wasIn(id, socket)) this.#suspect(socket);
      return;
    }
    if (!isBareError(octets, start, length) && !this.#plain.repeatsQuestion(slot, octets, start, length)) {
      this.#count(COUNT.otherQuestion);
      this.#suspect(socket);
      return;
    }
    if (pending.state[slot] === STATE.WAITING) {
      const route = this.#route;
      if (!isCut && route !== undefined && this.#isUnderstood(route, slot, start, length)) {
        this.#answerAll(route, slot, start, length);
        return;
      }
      this.#takeOver(slot);
    }
    this.#owner.handOverReply(pending.ticket[slot] ?? 0, isCut, octets, start, length);
    this.#free(slot);
  }

  #suspect(socket: number): void {
    this.#sockets.suspicious[socket] = (this.#sockets.suspicious[socket] ?? 0) + 1;
  }

  /** Whether the reply is one that every client that waits can be told as it is. */
  #isUnderstood(route: OpenRoute, slot: number, start: number, length: number): boolean {
    const plain = this.#plain;
    // Where the server has changed meanwhile, the main thread knows what is true now.
    if (this.#serverOf(slot) !== route.server) return false;
    if (!plain.read(slot, this.#replies.octets, start, length, route.trustsAd)) return false;
    return (plain.raw.rcode !== RCODE.NXDOMAIN || route.believesDenials) && plain.fitsAll(slot);
  }

  #serverOf(slot: number): number {
    return this.#sockets.servers[this.#pending.socket[slot] ?? 0] ?? 0;
  }

  /** Answers all that wait for a slot by the reply that was read, and hands it to the main thread. */
  #answerAll(route: OpenRoute, slot: number, start: number, length: number): void {
    const pending = this.#pending;
    const { raw } = this.#plain;
    const clients = pending.clients[slot] ?? 0;
    for (let client = pending.first[slot] ?? -1; client >= 0; client = pending.next[client] ?? -1)
      this.#respond(route, slot, client);
    this.#count(raw.rcode === RCODE.NXDOMAIN ? COUNT.denials : COUNT.answers);
    this.#count(COUNT.told, clients);
    this.#count(COUNT.coalesced, clients - 1);
    this.#settle(slot);
    const isKept = this.#handOver(route, slot, start, length);
    if (isKept) pending.releaseOthers(slot);
    else pending.free(slot);
  }

  #handOver(route: OpenRoute, slot: number, start: number, length: number): boolean {
    const server = this.#serverOf(slot);
    const { keptOutcome } = route;
    const packet = this.#replies.octets;
    const about = { packet, start, length, server, policy: this.#policy, keptOutcome, now: this.#now };
    if (!this.#handover.push(slot, about)) {
      this.#count(COUNT.lostFills);
      return false;
    }
    this.#pending.move(slot, STATE.ANSWERED);
    return true;
  }

  /** Answers a client whose question was answered a moment ago; the main thread has not taken the reply yet. */
  #answerFromFill(route: OpenRoute, slot: number, client: number): void {
    const pending = this.#pending;
    const plain = this.#plain;
    const [at, length] = [pending.fillAt[slot] ?? 0, pending.fillLength[slot] ?? 0];
    if (plain.read(slot, this.#handover.octets, at, length, route.trustsAd) && plain.fits(slot, client)) {
      this.#respond(route, slot, client);
      this.#count(COUNT.told);
      this.#count(COUNT.coalesced);
    } else {
      this.#about.ticket = 0;
      this.#owner.handOver(pending, client, this.#about);
    }
    pending.releaseOthers(slot);
  }

  #respond(route: OpenRoute, slot: number, client: number): void {
    const pending = this.#pending;
    const plain = this.#plain;
    const length = plain.write(slot, client, route.caching);
    const counters = this.#counters;
    counters.beginBatch();
    counters.count(pending.type[slot] ?? 0, plain.flags, route.outcome, length);
    counters.endBatch(this.#now - (pending.came[client] ?? 0));
    this.#owner.respond(pending, client, plain.octets, length);
  }

  /** Its query is answered or given up: it counts no longer as under way. */
  #settle(slot: number): void {
    const pending = this.#pending;
    pending.releaseId(slot);
    this.#sockets.release(pending.socket[slot] ?? 0);
    this.#words.addRunning(this.#reader, pending.group[slot] ?? 0, -1);
  }

  /** Has the main thread answer the clients of a slot. A late reply is waited for. */
  #takeOver(slot: number): void {
    const pending = this.#pending;
    const about = this.#about;
    this.#tickets = (this.#tickets + 1) >>> 0 || 1;
    pending.ticket[slot] = this.#tickets;
    about.ticket = this.#tickets;
    about.server = this.#serverOf(slot);
    about.elapsed = Math.max(0, Math.round(this.#now - (pending.askedAt[slot] ?? 0)));
    for (let client = pending.first[slot] ?? -1; client >= 0; client = pending.next[client] ?? -1)
      this.#owner.handOver(pending, client, about);
    pending.releaseOthers(slot);
    this.#words.addRunning(this.#reader, pending.group[slot] ?? 0, -1);
    pending.dueAt[slot] = (pending.askedAt[slot] ?? 0) + (this.#route?.deadline ?? 0);
    pending.move(slot, STATE.TAKEN_OVER);
  }

  /** Forgets a slot that was taken over. */
  #free(slot: number): void {
    this.#sockets.release(this.#pending.socket[slot] ?? 0);
    this.#pending.free(slot);
  }

  /** Does what is due. @param now of the clock's monotonic time */
  expire(now: number): void {
    this.#now = now;
    const pending = this.#pending;
    const { lists } = pending;
    for (let slot = lists.first(STATE.WAITING); slot >= 0; slot = lists.first(STATE.WAITING)) {
      if ((pending.dueAt[slot] ?? 0) > now) break;
      this.#takeOver(slot);
    }
    for (let slot = lists.first(STATE.TAKEN_OVER); slot >= 0; slot = lists.first(STATE.TAKEN_OVER)) {
      if ((pending.dueAt[slot] ?? 0) > now) break;
      this.#free(slot);
    }
    for (let slot = lists.first(STATE.ANSWERED); slot >= 0; slot = lists.first(STATE.ANSWERED)) {
      if (!this.#handover.isTaken(slot)) break;
      pending.free(slot);
    }
    this.#sockets.sweep(now);
  }

  /** Milliseconds until something is due, at most so many. @param now of the clock's monotonic time */
  untilDue(now: number, max: number): number {
    const slot = this.#pending.lists.first(STATE.WAITING);
    if (slot < 0) return max;
    return Math.min(max, Math.max(0, Math.ceil((this.#pending.dueAt[slot] ?? 0) - now)));
  }

  /** The kernel has refused a query, or reports an error of one sent before. */
  #refused(socket: number, errno: number, id: number | undefined): void {
    if (id === undefined) this.#readErrors(socket, errno);
    else this.#fail(this.#pending.slotOf(id, socket), errno);
  }

  #readErrors(socket: number, errno: number): void {
    const fd = this.#sockets.fds[socket] ?? -1;
    if (fd >= 0) this.#refusals.read(fd, (id) => this.#fail(this.#pending.slotOf(id, socket), errno));
  }

  #fail(slot: number, errno: number): void {
    if (slot < 0) return;
    if (this.#pending.state[slot] === STATE.WAITING) this.#takeOver(slot);
    this.#owner.handOverFailure(this.#pending.ticket[slot] ?? 0, errno);
    this.#free(slot);
  }

  /** Gives up a socket that a forger has found; its queries are sent again by another way. */
  #abandon(socket: number): void {
    const { lists } = this.#pending;
    this.#sockets.suspicious[socket] = 0;
    for (const list of [STATE.WAITING, STATE.TAKEN_OVER])
      for (let slot = lists.first(list); slot >= 0; ) {
        const next = lists.after(slot);
        if (this.#pending.socket[slot] === socket) this.#fail(slot, 0);
        slot = next;
      }
    this.#sockets.abandon(socket);
  }

  #count(count: number, more = 1): void {
    this.#counts[count] = (this.#counts[count] ?? 0) + more;
  }
}
