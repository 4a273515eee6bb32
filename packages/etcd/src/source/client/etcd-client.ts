/**
 * A client of etcd's API version 3: ranges, transactions, leases and watches.
 *
 * It uses one member at a time. If that member fails, the call fails, and the next call goes to the next member. The caller
 * decides how often and after which pause to retry.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { type CallOptions, Channel, type Stream } from './channel.ts';
import { EndpointRotation } from './endpoints.ts';
import { EtcdError, toEtcdError } from './etcd-error.ts';
import * as messages from './messages.ts';
import type { EtcdSettings } from './settings.ts';

export interface WatchHandlers {
  readonly replied: (reply: messages.WatchReply) => void;
  /** Called once, at the end of the watch, unless we canceled it. */
  readonly failed: (error: EtcdError) => void;
}

/** Milliseconds, as CoreDNS waits. */
const TIMEOUT = 5_000;

const METHOD = {
  RANGE: '/etcdserverpb.KV/Range',
  TXN: '/etcdserverpb.KV/Txn',
  WATCH: '/etcdserverpb.Watch/Watch',
  AUTHENTICATE: '/etcdserverpb.Auth/Authenticate',
  LEASE_GRANT: '/etcdserverpb.Lease/LeaseGrant',
  LEASE_REVOKE: '/etcdserverpb.Lease/LeaseRevoke',
  LEASE_KEEP_ALIVE: '/etcdserverpb.Lease/LeaseKeepAlive',
  LEASE_TIME_TO_LIVE: '/etcdserverpb.Lease/LeaseTimeToLive',
} as const;

export class EtcdClient {
  readonly #settings: EtcdSettings;
  readonly #clock: Clock;
  readonly #endpoints: EndpointRotation;
  #opening: Promise<Channel> | undefined;
  #channel: Channel | undefined;
  /** Undefined until the user is authenticated; empty if etcd has authentication disabled. */
  #token: Promise<string> | undefined;
  #isClosed = false;

  constructor(settings: EtcdSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#endpoints = new EndpointRotation(settings.endpoints);
  }

  /** The current endpoint, as configured. */
  get endpoint(): string {
    return this.#endpoints.current.text;
  }

  /** @throws EtcdError, as all calls */
  async range(request: messages.RangeRequest): Promise<messages.RangeReply> {
    return decode(await this.#call(METHOD.RANGE, messages.encodeRange(request)), messages.decodeRange);
  }

  /** As `range`, for very many keys. */
  async rangePage(request: messages.RangeRequest): Promise<messages.RangePage> {
    return decode(await this.#call(METHOD.RANGE, messages.encodeRange(request)), messages.decodePage);
  }

  /** Writes and deletes keys in one step, if all conditions hold. */
  async transact(transaction: messages.Transaction): Promise<messages.TransactionReply> {
    const request = messages.encodeTransaction(transaction);
    return decode(await this.#call(METHOD.TXN, request), messages.decodeTransaction);
  }

  /** @returns the identifier of the lease, and its seconds, which may be more than requested */
  async grantLease(seconds: number): Promise<messages.LeaseReply> {
    const reply = await this.#call(METHOD.LEASE_GRANT, messages.encodeLeaseGrant(seconds));
    const lease = decode(reply, messages.decodeLease);
    if (lease.error !== '') throw new EtcdError('refused', `lease not granted: ${lease.error}`);
    return lease;
  }

  /** Removes all keys of the lease. */
  async revokeLease(id: bigint): Promise<void> {
    await this.#call(METHOD.LEASE_REVOKE, messages.encodeLeaseId(id));
  }

  /** Renews a lease. @returns its seconds now; 0 if it has expired */
  async renewLease(id: bigint): Promise<number> {
    const reply = await this.#callOnStream(METHOD.LEASE_KEEP_ALIVE, messages.encodeLeaseId(id));
    return Math.max(0, decode(reply, messages.decodeLease).seconds);
  }

  /** @returns the remaining seconds of a lease; 0 if it has expired */
  async leaseSeconds(id: bigint): Promise<number> {
    const reply = await this.#call(METHOD.LEASE_TIME_TO_LIVE, messages.encodeLeaseId(id));
    return Math.max(0, decode(reply, messages.decodeLease).seconds);
  }

  /** @returns a handle that cancels the watch */
  watch(request: messages.WatchRequest, handlers: WatchHandlers): { cancel(): void } {
    let isOpen = true;
    let stream: Stream | undefined;
    const fail = (error: unknown) => {
      if (!isOpen) return;
      isOpen = false;
      stream?.cancel();
      handlers.failed(toEtcdError(error));
    };
    const replied = (octets: Buffer) => {
      try {
        const reply = decode(octets, messages.decodeWatch);
        if (reply.canceled) fail(this.#toWatchError(reply));
        else if (isOpen) handlers.replied(reply);
      } catch (error) {
        fail(error);
      }
    };
    this.#open(METHOD.WATCH, replied, fail).then((opened) => {
      stream = opened;
      if (isOpen) stream.send(messages.encodeWatch(request));
      else stream.cancel();
    }, fail);
    return {
      cancel: () => {
        isOpen = false;
        stream?.cancel();
      },
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#leaveEndpoint();
  }

  #toWatchError({ compactRevision, cancelReason }: messages.WatchReply): EtcdError {
    if (compactRevision > 0) return new EtcdError('compacted', `first revision: ${compactRevision}`);
    // The token may have expired: the next call gets a new one.
    this.#token = undefined;
    return new EtcdError('unauthenticated', `${this.endpoint}: watch canceled: ${cancelReason}`);
  }

  async #call(method: string, request: Buffer): Promise<Buffer> {
    return await this.#withToken(
      async (channel, options) => await channel.call(method, request, TIMEOUT, options),
    );
  }

  /** The first reply to a message on a stream of its own. */
  async #callOnStream(method: string, request: Buffer): Promise<Buffer> {
    return await this.#withToken(
      (channel, options) =>
        new Promise((resolve, reject) => {
          const finish = (settle: () => void) => {
            timer.cancel();
            stream.cancel();
            settle();
          };
          const handlers = {
            message: (octets: Buffer) => finish(() => resolve(octets)),
            ended: (error: EtcdError) => finish(() => reject(error)),
          };
          const stream = channel.stream(method, handlers, { ...options, requiresLeader: true });
          const silent = new EtcdError('unavailable', `${this.endpoint}: no answer within ${TIMEOUT} ms`);
          const timer = this.#clock.after(TIMEOUT, () => finish(() => reject(silent)));
          stream.send(request);
        }),
    );
  }

  async #open(
    method: string,
    message: (octets: Buffer) => void,
    ended: (error: EtcdError) => void,
  ): Promise<Stream> {
    return await this.#withToken(async (channel, options) =>
      channel.stream(
        method,
        {
          message,
          ended: (error) => {
            this.#note(error, channel);
            ended(error);
          },
        },
        { ...options, requiresLeader: true },
      ),
    );
  }

  /** Calls with a token if there is a user; retries once with a new token if the first is not accepted. */
  async #withToken<Result>(
    run: (channel: Channel, options: CallOptions) => Promise<Result>,
  ): Promise<Result> {
    for (let isFirst = true; ; isFirst = false) {
      this.#checkOpen();
      const channel = await this.#getChannel();
      try {
        const token = await this.#getToken(channel);
        // A call would connect again.
        this.#checkOpen();
        return await run(channel, token === '' ? {} : { token });
      } catch (cause) {
        const error = toEtcdError(cause);
        this.#note(error, channel);
        const mayRetry = isFirst && this.#settings.credentials !== undefined;
        if (error.failure !== 'unauthenticated' || !mayRetry) throw error;
      }
    }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new EtcdError('closed', 'the client of etcd is closed');
  }

  #note({ failure }: EtcdError, channel: Channel): void {
    if (failure === 'unauthenticated') this.#token = undefined;
    if (failure === 'unavailable' && channel === this.#channel) this.#leaveEndpoint();
  }

  #leaveEndpoint(): void {
    this.#channel?.close();
    this.#channel = undefined;
    this.#opening = undefined;
    this.#endpoints.advance();
  }

  async #getChannel(): Promise<Channel> {
    const { tls = {} } = this.#settings;
    const opening = this.#opening ?? Channel.open(this.#endpoints.current, tls, this.#clock);
    this.#opening = opening;
    try {
      const channel = await opening;
      if (this.#isClosed) channel.close();
      this.#checkOpen();
      if (this.#opening === opening) this.#channel = channel;
      return channel;
    } catch (error) {
      if (this.#opening === opening) this.#leaveEndpoint();
      throw error;
    }
  }

  async #getToken(channel: Channel): Promise<string> {
    const { credentials } = this.#settings;
    if (credentials === undefined) return '';
    const { username, password } = credentials;
    const asked = this.#token ?? authenticate(channel, username, password);
    this.#token = asked;
    try {
      return await asked;
    } catch (error) {
      if (this.#token === asked) this.#token = undefined;
      throw error;
    }
  }
}

/** @returns an empty text if etcd has authentication disabled */
async function authenticate(channel: Channel, username: string, password: string): Promise<string> {
  try {
    const request = messages.encodeAuthenticate(username, password);
    return decode(await channel.call(METHOD.AUTHENTICATE, request, TIMEOUT), messages.decodeAuthenticate);
  } catch (error) {
    if (error instanceof EtcdError && error.message.includes('authentication is not enabled')) return '';
    throw error;
  }
}

/** @throws EtcdError if the octets are not a message */
function decode<Message>(octets: Buffer, read: (octets: Buffer) => Message): Message {
  try {
    return read(octets);
  } catch (error) {
    throw new EtcdError('unavailable', describeError(error));
  }
}
