/**
 * What readers need of the handlers of a block to forward by themselves: the servers of a forwarder, and how a cache keeps the replies.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import { Capability } from '../base/capability.ts';
import type { UniformCaching } from '../forward/caching/answer-form.ts';
import type { CachingRules } from '../forward/caching/caching-rules.ts';
import type { FillConsumer } from '../forward/reader-path/fill-ring.ts';
import type { LinkedForwarder } from '../forward/reader-path/linked-forwarder.ts';
import type { Upstream } from '../forward/upstream/upstream.ts';
import type { ViewId } from '../table/types.ts';
import type { QuerySite } from './query.ts';

/** How a cache stores replies that readers forward for names of a zone; undefined: readers may not forward. */
export const KEPT_REPLIES = new Capability<(zone: NameKey) => KeptReplies | undefined>('kept replies');

/** The servers of a forwarder for names of a zone; undefined: readers may not ask them. */
export const DIRECT_SERVERS = new Capability<(zone: NameKey) => DirectServers | undefined>('direct servers');

/** How a cache stores replies that readers have sent to their clients. */
export interface KeptReplies {
  /** The rules for TTLs, and whether responses have our own flags or those of the server. */
  readonly form:
    | { readonly kind: 'own'; readonly caching: CachingRules }
    | { readonly kind: 'as-sent'; readonly caching: UniformCaching };
  /** The view with its entries; undefined: it makes the entries itself. */
  readonly view: ViewId | undefined;
  /** Whether an expired answer may be served. */
  readonly servesStale: boolean;
  /** Names for which it does not store all replies, with all names below them. */
  readonly exceptions: readonly NameKey[];
  /** Counts clients whose questions it had no answer for. Default: outcomes count them. */
  missed?(clients: number): void;
  keep(reply: FillConsumer, about: SentReply): void;
}

/** The facts about a reply that a reader has sent to its clients. */
export interface SentReply {
  readonly site: QuerySite;
  /** Whether the entry may be stored as the reader has made it. */
  readonly isEncoded: boolean;
  /** Whether the AD bit of the server is trusted. */
  readonly trustsAd: boolean;
}

/** Servers that readers may ask by themselves. */
export interface DirectServers {
  readonly link: LinkedForwarder;
  /** Names that other routes take, with all names below them. */
  readonly exceptions: readonly NameKey[];
  /** Whether clients get plain replies as they are. May change. */
  isUsable(): boolean;
  /** Whether denials are true, since no names are known here. May change. */
  believesDenials(): boolean;
  /** Counts a reply. @param upstream its server, if it is still one */
  observe(reply: FillConsumer, upstream: Upstream | undefined): void;
}
