/**
 * Forwards plain questions from the thread that received them. It asks a server that the main thread permits for the
 * question's route, judges replies as octets, and answers the clients.
 *
 * Policy stays on the main thread: which servers may be asked, the time-outs, and the number of queries in flight. The
 * main thread also puts the replies into the cache, and takes over each question without a plain answer: it is overdue,
 * the network refused it, or its reply is truncated, an error or not understood. A slot is answered or taken over,
 * never both.
 */
import { RCODE } from '@portolan/dns/types.ts';
import { PacketBatch } from '../../socket/batch.ts';
import { ENVELOPE } from '../../socket/envelope.ts';
import { AF_INET, ECONNREFUSED, ECONNRESET, EPIPE, MSG_DONTWAIT, MSG_ERRQUEUE } from '../../socket/linux.ts';
import { Counters } from '../../table/counters.ts';
import type { QuestionReader } from '../../table/question.ts';
import { NO_ROUTE } from '../../table/types.ts';
import { idOfReply, isBareError } from '../transport/query-message.ts';
import { FILL_FLAG } from './fill-ring.ts';
import { measurePassed, PendingQueries, STATE } from './pending-queries.ts';
import type {
  ClientPackets,
  ReaderHost,
  ReaderPathData,
  TakenOver,
  UnansweredQuestion,
} from './reader-host.ts';
import type { OpenRoute, ReaderPolicy } from './reader-policy.ts';
import { ReplyHandover } from './reply-handover.ts';
import { RunningRoute } from './running-route.ts';
import { QueryRow, type QuerySender } from './send-batch.ts';
import { GROUP_COUNT, SERVER_COUNT, SharedWords } from './shared-words.ts';
import { isSimpleQuestion } from './simple-question.ts';
import { SimpleReplies } from './simple-replies.ts';
import { type SocketKeeper, SocketTable } from './socket-table.ts';
import { TrainSupport } from './train-support.ts';
import { UpstreamSockets } from './upstream-sockets.ts';
import type { UpstreamStream } from './upstream-stream.ts';
import { UpstreamStreams } from './upstream-streams.ts';

const TAKEN = -2;
/** Suspicious packets that a socket may receive. */
const MAX_SUSPICIOUS = 3;

export class ReaderForwarder implements SocketKeeper, QuerySender {
  readonly #owner: ReaderHost;
  readonly #reader: number;
  readonly #open: UnansweredQuestion;
  readonly #words: SharedWords;
  readonly #counts: Float64Array;
  readonly #handover: ReplyHandover;
  readonly #pending = new PendingQueries();
  readonly #table: SocketTable;
  readonly #sockets: UpstreamSockets;
  readonly #streams: UpstreamStreams;
  readonly #row = new QueryRow(this.#pending, this);
  readonly #trains = new TrainSupport();
  readonly #counters: Counters;
  readonly #plain: SimpleReplies;
  readonly #about: TakenOver = { ticket: 0, server: 0, elapsed: 0 };
  readonly #refusals = new RefusedQueries();
  #replies = new PacketBatch(0);
  /** The memory of the current reply. */
  #octets: Uint8Array = this.#replies.octets;
  #policy = 0;
  #generation = 0;
  /** By number. */
  #routes: ReadonlyMap<number, RunningRoute> = new Map();
  /** Whether all servers have the same time-out, because there is only one: then slots are overdue in the order of sending. */
  #isOrdered = true;
  #tickets = 0;
  #now = 0;

  /**
   * @param table its memory, and the reader's number for counting answers
   * @param udpSize the UDP size in our OPT records, and the limit of UDP responses
   */
  constructor(
    data: ReaderPathData,
    table: { readonly memory: SharedArrayBuffer; readonly reader: number },
    open: UnansweredQuestion,
    udpSize: number,
    owner: ReaderHost,
  ) {
    this.#owner = owner;
    this.#reader = table.reader;
    this.#open = open;
    this.#plain = new SimpleReplies(this.#pending, udpSize);
    this.#words = new SharedWords(data.words, data.readers);
    this.#counts = this.#words.counts;
    this.#handover = new ReplyHandover(data.fills, table.memory, this.#pending, this.#plain);
    this.#table = new SocketTable(this, data.maxSockets);
    this.#sockets = new UpstreamSockets(this.#table);
    this.#streams = new UpstreamStreams(this.#table, (socket, errno) => this.#lose(socket, errno));
    this.#counters = new Counters(table.memory, table.reader);
    this.#follow(data.policy);
  }

  /** Whether replies may come: watch the upstream sockets. */
  get isWaiting(): boolean {
    const { lists } = this.#pending;
    return lists.first(STATE.WAITING) >= 0 || lists.first(STATE.TAKEN_OVER) >= 0;
  }

  /** Whether client questions are unanswered. */
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

  /** Begins a batch of packets. @param now by the clock's monotonic time */
  begin(now: number): void {
    this.#now = now;
    // Read it before the policy: results of an older policy must not count for a newer generation.
    this.#generation = this.#words.generation;
    const policy = this.#words.policy === this.#policy ? undefined : this.#owner.receivePolicy();
    if (policy !== undefined) this.#follow(policy);
  }

  #follow({ number, routes }: ReaderPolicy): void {
    this.#policy = number;
    const hashWireName = (name: Uint8Array) => this.#open.hashWireName(name);
    this.#routes = new Map(routes.map((route) => [route.number, new RunningRoute(route, hashWireName)]));
    const servers = new Map(
      routes.flatMap((route) => route.servers).map((server) => [server.number, server]),
    );
    this.#sockets.follow([...servers.values()].filter(({ stream }) => stream === undefined));
    this.#streams.follow([...servers.values()]);
    this.#isOrdered &&= servers.size < 2;
    const udpSize = Math.max(0, ...routes.map((route) => route.udpSize));
    if (this.#replies.packetSize < udpSize) this.#replies = new PacketBatch(udpSize);
  }

  /**
   * Takes a client's packet, whose question the table has just left open.
   *
   * @returns whether it took the packet; if not, the main thread must answer it
   */
  take(packets: ClientPackets, index: number, socket: number): boolean {
    if (this.#open.route === NO_ROUTE) return false;
    const running = this.#routes.get(this.#open.route);
    if (running === undefined || !isSimpleQuestion(packets, index, this.#open, running)) return false;
    const { route } = running;
    const pending = this.#pending;
    const { question } = this.#open;
    const passed = route.passesOptions ? measurePassed(question) : 0;
    const hash = pending.hashQuestion(question, passed);
    const known = this.#findKnown(question, hash, passed, route.number);
    // The main thread has stored the answer since this packet's look-up: it need not be asked for again.
    if (known === TAKEN) return false;
    const slot = known >= 0 ? known : this.#ask(running, question, hash, passed, packets.startAt(index));
    if (slot < 0 || pending.state[slot] === STATE.TAKEN_OVER || !pending.hasRoomForClient) return false;
    const client = pending.join(slot, packets, index, packets.lengthAt(index), socket);
    pending.udpSize[client] = question.udpSize;
    pending.hasOpt[client] = question.hasOpt ? 1 : 0;
    pending.options[client] = question.optionsStart - packets.startAt(index);
    pending.optionsLength[client] = question.hasOptions ? question.optionsEnd - question.optionsStart : 0;
    pending.came[client] = this.#now;
    if (known < 0) {
      pending.group[slot] = this.#words.computeGroup(pending.octets, pending.locateEnvelope(client));
      this.#words.addRunning(this.#reader, route.group, pending.group[slot] ?? 0, 1);
    }
    if (pending.state[slot] === STATE.ANSWERED) this.#answerFromFill(route, slot, client);
    return true;
  }

  /** The slot of an equal question; -1 if there is none; `TAKEN` if its reply has just gone into the cache. */
  #findKnown(question: QuestionReader, hash: number, passed: number, route: number): number {
    const pending = this.#pending;
    const slot = pending.find(question, hash, passed, route, this.#generation);
    if (slot < 0 || pending.state[slot] !== STATE.ANSWERED) return slot;
    // Once its record was taken, another one may be in its place.
    if (!this.#handover.isTaken(slot)) return slot;
    pending.free(slot);
    return TAKEN;
  }

  /** Asks upstream. @returns the slot, without clients yet; -1 if the reader must not or cannot ask */
  #ask(running: RunningRoute, question: QuestionReader, hash: number, passed: number, start: number): number {
    const pending = this.#pending;
    const words = this.#words;
    const { route } = running;
    if (!pending.hasRoom || words.running(route.group) >= route.limit) return -1;
    const chosen = running.chooseServer();
    if (chosen === undefined || (question.dnssecOk && !chosen.usesEdns)) return -1;
    const { number: server, usesEdns } = chosen;
    const isStreamed = this.#streams.has(server);
    const socket = (isStreamed ? this.#streams : this.#sockets).pick(server, this.#now);
    if (socket < 0) return -1;
    const slot = pending.open(question, start, hash, passed, socket);
    if (slot < 0) {
      this.#release(socket);
      return -1;
    }
    pending.generation[slot] = this.#generation;
    pending.route[slot] = route.number;
    pending.servers[slot] = route.group;
    pending.askedAt[slot] = this.#now;
    pending.dueAt[slot] = this.#now + words.readServerTimeout(server);
    pending.hadEdns[slot] = usesEdns ? 1 : 0;
    this.#incrementServerCount(server, SERVER_COUNT.sent);
    const form = running.formFor(chosen);
    if (isStreamed) this.#streams.add(socket, pending.id[slot] ?? 0, question, form, passed);
    else this.#row.add(slot, this.#table.fds[socket] ?? -1, question, form);
    return slot;
  }

  /** Sends the queries added since `begin`. */
  flush(): void {
    this.#row.flush();
    this.#streams.flush();
  }

  /** Receives packets from an upstream socket. */
  receive(socket: number): void {
    const stream = this.#streams.find(socket);
    if (stream !== undefined) this.#receiveStream(socket, stream);
    else this.#receivePackets(socket);
    if (this.#handover.needsWaking()) this.#owner.wake();
  }

  #receiveStream(socket: number, stream: UpstreamStream): void {
    const errno = this.#streams.receive(socket, stream, this.#now);
    this.#octets = stream.octets;
    while (stream.next()) {
      this.#judge(socket, stream.start, stream.length, false);
      if (!this.#isSuspect(socket)) continue;
      this.#disconnect(socket, ECONNRESET);
      return;
    }
    if (errno !== 0) this.#lose(socket, errno);
  }

  /** A connection is lost: by its server, or by the network, which says nothing about the server. */
  #lose(socket: number, errno: number): void {
    if (errno === ECONNRESET || errno === EPIPE) this.#streams.noteEnd(socket, this.#now);
    this.#disconnect(socket, errno);
  }

  /** Closes a connection; the queries in flight on it fail. */
  #disconnect(socket: number, errno: number): void {
    this.#failAll((slot) => this.#pending.socket[slot] === socket, errno);
    this.#sockets.suspicious[socket] = 0;
    this.#streams.close(socket);
  }

  #receivePackets(socket: number): void {
    const batch = this.#replies;
    const fd = this.#table.fds[socket] ?? -1;
    if (fd < 0) return;
    const count = batch.receive(fd, MSG_DONTWAIT);
    this.#octets = batch.octets;
    if (count <= 0) this.#readErrors(socket, count === 0 ? ECONNREFUSED : -count);
    for (let index = 0; index < count; index++) {
      this.#judge(socket, batch.startAt(index), batch.lengthAt(index), batch.isCut(index));
      if (this.#isSuspect(socket)) {
        this.#abandon(socket);
        return;
      }
    }
  }

  #judge(socket: number, start: number, length: number, isCut: boolean): void {
    const octets = this.#octets;
    const pending = this.#pending;
    const id = idOfReply(octets, start, length);
    const slot = id < 0 ? -1 : pending.findSlot(id, socket);
    if (slot < 0) {
      this.#incrementServerCount(this.#table.servers[socket] ?? 0, SERVER_COUNT.strange);
      if (id < 0 || !pending.wasIn(id, socket)) this.#suspect(socket);
      return;
    }
    if (!isBareError(octets, start, length) && !this.#plain.repeatsQuestion(slot, octets, start, length)) {
      this.#incrementServerCount(this.#table.servers[socket] ?? 0, SERVER_COUNT.otherQuestion);
      this.#suspect(socket);
      return;
    }
    if (pending.train[slot] !== 0) this.#trains.noteReply(this.#serverAt(slot));
    if (pending.state[slot] === STATE.WAITING) {
      const route = this.#routes.get(pending.route[slot] ?? 0)?.route;
      if (!isCut && route !== undefined && this.#isUnderstood(route, slot, start, length)) {
        this.#answerAll(route, slot, start, length);
        return;
      }
      this.#takeOver(slot);
    }
    this.#owner.handOverReply(pending.ticket[slot] ?? 0, isCut, octets, start, length);
    this.#free(slot);
  }

  #isSuspect(socket: number): boolean {
    return (this.#sockets.suspicious[socket] ?? 0) > MAX_SUSPICIOUS;
  }

  #suspect(socket: number): void {
    this.#sockets.suspicious[socket] = (this.#sockets.suspicious[socket] ?? 0) + 1;
  }

  /** Whether the reply can be sent unchanged to every waiting client. */
  #isUnderstood(route: OpenRoute, slot: number, start: number, length: number): boolean {
    const plain = this.#plain;
    // If the servers have changed meanwhile, only the main thread knows what applies.
    const server = this.#serverAt(slot);
    if (!route.servers.some(({ number }) => number === server)) return false;
    if (!plain.read(slot, this.#octets, start, length, route.trustsAd)) return false;
    const { rcode, answerCount } = plain.raw;
    // CoreDNS does not cache a denial at the end of aliases.
    if (
      rcode === RCODE.NXDOMAIN &&
      (!route.believesDenials || (answerCount > 0 && route.form.kind === 'as-sent'))
    )
      return false;
    return plain.fitsAll(slot, route.form);
  }

  #serverAt(slot: number): number {
    return this.#table.servers[this.#pending.socket[slot] ?? 0] ?? 0;
  }

  /** Answers all clients of a slot with the reply, and hands it to the main thread. */
  #answerAll(route: OpenRoute, slot: number, start: number, length: number): void {
    const pending = this.#pending;
    const { raw } = this.#plain;
    const clients = pending.clients[slot] ?? 0;
    for (let client = pending.first[slot] ?? -1; client >= 0; client = pending.next[client] ?? -1)
      this.#respond(route, slot, client);
    const isDenial = raw.rcode === RCODE.NXDOMAIN;
    this.#incrementServerCount(this.#serverAt(slot), isDenial ? SERVER_COUNT.denials : SERVER_COUNT.answers);
    this.#count(route.group, GROUP_COUNT.told, clients);
    this.#count(route.group, GROUP_COUNT.coalesced, clients - 1);
    this.#settle(slot);
    const isKept = this.#handOver(route, slot, start, length);
    if (isKept) pending.releaseOthers(slot);
    else pending.free(slot);
  }

  #handOver(route: OpenRoute, slot: number, start: number, length: number): boolean {
    const server = this.#serverAt(slot);
    const packet = this.#octets;
    const about = { packet, start, length, server, route, policy: this.#policy, now: this.#now };
    if (!this.#handover.push(slot, about)) {
      this.#count(route.group, GROUP_COUNT.lostFills);
      return false;
    }
    // Without a cache each question is asked, however soon after an equal one.
    if (!hasCache(route)) return false;
    this.#pending.move(slot, STATE.ANSWERED);
    return true;
  }

  /** Answers a client from a recent reply that the main thread has not taken yet. */
  #answerFromFill(route: OpenRoute, slot: number, client: number): void {
    const pending = this.#pending;
    const plain = this.#plain;
    const at = pending.fillAt[slot] ?? 0;
    const length = pending.fillLength[slot] ?? 0;
    if (
      plain.read(slot, this.#handover.octets, at, length, route.trustsAd) &&
      plain.fits(slot, client, route.form)
    ) {
      this.#respondAgain(route, slot, client);
      if (plain.lifetime === 0) this.#count(route.group, GROUP_COUNT.told);
      this.#count(route.group, GROUP_COUNT.coalesced);
    } else {
      this.#about.ticket = 0;
      this.#owner.handOver(pending, client, this.#about);
    }
    pending.releaseOthers(slot);
  }

  #respond(route: OpenRoute, slot: number, client: number): void {
    const length = this.#plain.write(slot, client, route.form);
    this.#send(route, slot, client, length, route.outcomes.forwarded);
  }

  /** Answers with a reply that other clients got a moment ago. */
  #respondAgain(route: OpenRoute, slot: number, client: number): void {
    const { repeated, forwarded } = route.outcomes;
    const length = this.#plain.writeKept(slot, client, route.form);
    const { lifetime, raw } = this.#plain;
    const kept = raw.authorityCount > 0 ? repeated.negative : repeated.positive;
    this.#send(route, slot, client, length, lifetime > 0 ? kept : forwarded);
  }

  /** Sends the last written response. */
  #send(route: OpenRoute, slot: number, client: number, length: number, outcome: number): void {
    const pending = this.#pending;
    const plain = this.#plain;
    const counters = this.#counters;
    const { byPath } = route.outcomes;
    const isIpv6 = pending.octets[pending.locateEnvelope(client) + ENVELOPE.NAME] !== AF_INET;
    counters.beginBatch();
    const counted = byPath && isIpv6 ? outcome + 1 : outcome;
    const dnssecOk = ((pending.flags[slot] ?? 0) & FILL_FLAG.DNSSEC_OK) !== 0;
    const type = pending.type[slot] ?? 0;
    counters.count(type, plain.flags, counted, length, pending.length[client] ?? 0, dnssecOk);
    counters.endBatch(this.#now - (pending.came[client] ?? 0));
    this.#owner.respond(pending, client, plain.octets, length);
  }

  /** Its query is answered or given up: it is not in flight any more. */
  #settle(slot: number): void {
    const pending = this.#pending;
    pending.releaseId(slot);
    this.#release(pending.socket[slot] ?? 0);
    this.#leave(slot);
  }

  /** A socket has one query fewer in flight. */
  #release(socket: number): void {
    if (this.#streams.find(socket) === undefined) this.#sockets.release(socket);
    else this.#streams.release(socket);
  }

  /** Its query is not counted as in flight any more. */
  #leave(slot: number): void {
    const { servers, group } = this.#pending;
    this.#words.addRunning(this.#reader, servers[slot] ?? 0, group[slot] ?? 0, -1);
  }

  /** Hands the clients of a slot over to the main thread. Still waits for a late reply. */
  #takeOver(slot: number): void {
    const pending = this.#pending;
    const about = this.#about;
    this.#tickets = (this.#tickets + 1) >>> 0 || 1;
    pending.ticket[slot] = this.#tickets;
    about.ticket = this.#tickets;
    about.server = this.#serverAt(slot);
    about.elapsed = Math.max(0, Math.round(this.#now - (pending.askedAt[slot] ?? 0)));
    for (let client = pending.first[slot] ?? -1; client >= 0; client = pending.next[client] ?? -1)
      this.#owner.handOver(pending, client, about);
    pending.releaseOthers(slot);
    this.#leave(slot);
    pending.dueAt[slot] =
      (pending.askedAt[slot] ?? 0) + (this.#routes.get(pending.route[slot] ?? 0)?.route.deadline ?? 0);
    pending.move(slot, STATE.TAKEN_OVER);
  }

  /** Frees a slot that was taken over. */
  #free(slot: number): void {
    this.#release(this.#pending.socket[slot] ?? 0);
    this.#pending.free(slot);
  }

  /** Handles timeouts that are due. @param now by the clock's monotonic time */
  expire(now: number): void {
    this.#now = now;
    const pending = this.#pending;
    const { lists } = pending;
    for (let slot = lists.first(STATE.WAITING); slot >= 0; ) {
      const next = lists.after(slot);
      if ((pending.dueAt[slot] ?? 0) <= now) this.#giveUp(slot);
      else if (this.#isOrdered) break;
      slot = next;
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
    this.#streams.sweep(now);
  }

  /** The reply did not come in time. */
  #giveUp(slot: number): void {
    const { train, socket, askedAt } = this.#pending;
    const coupled = train[slot] ?? 0;
    if (coupled !== 0) this.#trains.noteOverdue(this.#serverAt(slot), coupled, this.#now);
    this.#takeOver(slot);
    this.#streams.overdue(socket[slot] ?? 0, askedAt[slot] ?? 0);
  }

  /** Call it before the thread waits. */
  rest(): void {
    this.#streams.rest();
  }

  /** Milliseconds until the next timeout, at most `max`. @param now by the clock's monotonic time */
  untilDue(now: number, max: number): number {
    const { lists, dueAt } = this.#pending;
    let due = now + max;
    for (let slot = lists.first(STATE.WAITING); slot >= 0; slot = this.#isOrdered ? -1 : lists.after(slot))
      due = Math.min(due, dueAt[slot] ?? 0);
    return Math.max(0, Math.ceil(due - now));
  }

  mayCouple(socket: number): boolean {
    return this.#trains.isUsed(this.#table.servers[socket] ?? 0, this.#now);
  }

  trainRefused(socket: number): void {
    this.#trains.noteRefused(this.#table.servers[socket] ?? 0, this.#now);
  }

  refused(socket: number, errno: number, id: number | undefined): void {
    if (id === undefined) this.#readErrors(socket, errno);
    else this.#fail(this.#pending.findSlot(id, socket), errno);
  }

  #readErrors(socket: number, errno: number): void {
    const fd = this.#table.fds[socket] ?? -1;
    if (fd >= 0) this.#refusals.read(fd, (id) => this.#failTrain(this.#pending.findSlot(id, socket), errno));
  }

  /** Fails a query that the network refused, and its train: for a whole train the kernel returns only the first query. */
  #failTrain(slot: number, errno: number): void {
    if (slot < 0) return;
    const train = this.#pending.train[slot] ?? 0;
    if (train === 0) this.#fail(slot, errno);
    else this.#failAll((other) => this.#pending.train[other] === train, errno);
  }

  #failAll(isMeant: (slot: number) => boolean, errno: number): void {
    const { lists } = this.#pending;
    for (const list of [STATE.WAITING, STATE.TAKEN_OVER])
      for (let slot = lists.first(list); slot >= 0; ) {
        const next = lists.after(slot);
        if (isMeant(slot)) this.#fail(slot, errno);
        slot = next;
      }
  }

  #fail(slot: number, errno: number): void {
    if (slot < 0) return;
    if (this.#pending.state[slot] === STATE.WAITING) this.#takeOver(slot);
    this.#owner.handOverFailure(this.#pending.ticket[slot] ?? 0, errno);
    this.#free(slot);
  }

  /** Gives up a socket that a forger has found; the main thread sends its queries over another transport. */
  #abandon(socket: number): void {
    this.#sockets.suspicious[socket] = 0;
    this.#failAll((slot) => this.#pending.socket[slot] === socket, 0);
    this.#sockets.abandon(socket);
  }

  /** Hands all pending questions to the main thread when the reader ends. Their replies will not be received. */
  end(): void {
    const pending = this.#pending;
    const { lists } = pending;
    const about = this.#about;
    about.ticket = 0;
    for (let slot = lists.first(STATE.WAITING); slot >= 0; slot = lists.first(STATE.WAITING)) {
      for (let client = pending.first[slot] ?? -1; client >= 0; client = pending.next[client] ?? -1)
        this.#owner.handOver(pending, client, about);
      this.#settle(slot);
      pending.free(slot);
    }
    this.#table.closeAll();
  }

  /** @param group of servers */
  #count(group: number, count: number, more = 1): void {
    const at = this.#words.locateGroupCounts(this.#reader, group) + count;
    this.#counts[at] = (this.#counts[at] ?? 0) + more;
  }

  #incrementServerCount(server: number, count: number): void {
    const at = this.#words.locateServerCounts(this.#reader, server) + count;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }
}

/** Whether the replies of a route are cached. */
function hasCache({ form }: OpenRoute): boolean {
  return form.kind === 'own' || form.caching !== undefined;
}

/**
 * Finds queries that the network refused: the kernel keeps packets that an ICMP message came back for.
 */
/** The first octets of a packet are enough. */
const OCTETS = 64;

class RefusedQueries {
  readonly #batch = new PacketBatch(OCTETS);

  /** Reads the ids of refused queries from a socket, some at a time. */
  read(fd: number, onRefused: (id: number) => void): void {
    const batch = this.#batch;
    const count = batch.receive(fd, MSG_DONTWAIT | MSG_ERRQUEUE);
    for (let index = 0; index < count; index++) {
      const at = batch.startAt(index);
      if (batch.lengthAt(index) >= 2) onRefused(((batch.octets[at] ?? 0) << 8) | (batch.octets[at + 1] ?? 0));
    }
  }
}
