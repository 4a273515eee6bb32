/**
 * Reads the root of the views: first the class of the client, then, once the question is known, the view.
 */
import { isMappedAddress } from '@portolan/dns/address.ts';
import { findInterval } from '@portolan/dns/address-intervals.ts';
import type { ClientTransport } from '@portolan/dns/response-size.ts';
import { TYPE } from '@portolan/dns/types.ts';
import { AF_INET, IPV4_AT, IPV6_AT } from '../socket/linux.ts';
import {
  CLASS_ACTION,
  CLASS_ASKS_ODD,
  CLIENT_CLASS,
  CLIENTS,
  HEADER,
  UNIT_SHIFT,
  VIEW_ROOT,
} from './layout.ts';
import type { TableViews } from './memory.ts';
import { findNameEntry, readMaxLabels, readMinLabels } from './name-table.ts';
import type { QuestionReader } from './question.ts';
import { DEFAULT_VIEW } from './types.ts';

/** Instead of a view number. */
export const NO_VIEW = -1;
export const ASK_CHAIN = -2;

export class ViewFinder {
  readonly #views: TableViews;
  readonly #words: Uint32Array;
  readonly #question: QuestionReader;
  /** The octet of the root of the views, for the current packet; 0 if there is only the default view. */
  #root = 0;
  /** The class of the client, as an octet. */
  #class = 0;

  constructor(views: TableViews, question: QuestionReader) {
    this.#views = views;
    this.#words = views.words;
    this.#question = question;
  }

  /**
   * Finds the class of a client.
   *
   * @param at where its socket address begins in `octets`
   * @returns whether it gets an answer
   */
  admits(group: number, octets: Uint8Array, at: number): boolean {
    const root = (this.#words[HEADER.VIEW_ROOT] ?? 0) << UNIT_SHIFT;
    this.#root = root;
    if (root === 0) return true;
    // A group that the table does not know any more, or not yet.
    if (group >= (this.#words[(root + VIEW_ROOT.GROUPS) >> 2] ?? 0)) return false;
    this.#class = root + this.#findClass(root, group, octets, at);
    return ((this.#words[(this.#class + CLIENT_CLASS.SHAPE) >> 2] ?? 0) & 0x7f) !== CLASS_ACTION.DROP;
  }

  #findClass(root: number, group: number, octets: Uint8Array, at: number): number {
    const words = this.#words;
    const clients = root + (words[((root + VIEW_ROOT.CLIENTS) >> 2) + group] ?? 0);
    const ipv4 = words[(clients + CLIENTS.IPV4) >> 2] ?? 0;
    const ipv6 = words[(clients + CLIENTS.IPV6) >> 2] ?? 0;
    const starts = (clients + CLIENTS.STARTS) >> 2;
    const classes = starts + ipv4 + ipv6 * 4;
    if (octets[at] === AF_INET)
      return words[classes + findInterval(words, starts, ipv4, 1, octets, at + IPV4_AT)] ?? 0;
    return words[classes + ipv4 + findInterval(words, starts + ipv4, ipv6, 4, octets, at + IPV6_AT)] ?? 0;
  }

  /** Whether the client's packets that are not plain queries go to the chain. */
  get asksOdd(): boolean {
    return (
      this.#root !== 0 && ((this.#words[(this.#class + CLIENT_CLASS.SHAPE) >> 2] ?? 0) & CLASS_ASKS_ODD) !== 0
    );
  }

  /** The one of a view's four outcomes that a query counts for. @param at where its client's socket address begins */
  toViewPath(octets: Uint8Array, at: number, transport: ClientTransport): number {
    return (transport === 'udp' ? 0 : 2) + (octets[at] === AF_INET ? 0 : 1);
  }

  /** Whether a client asks over IPv6, and not over IPv4 to a socket of IPv6. @param at where its socket address begins */
  isOverIpv6(octets: Uint8Array, at: number): boolean {
    return octets[at] !== AF_INET && !isMappedAddress(octets, at + IPV6_AT);
  }

  /** The view for the current question of the client admitted last. @returns its number, `NO_VIEW` or `ASK_CHAIN` */
  find(): number {
    if (this.#root === 0) return DEFAULT_VIEW;
    const shape = this.#words[(this.#class + CLIENT_CLASS.SHAPE) >> 2] ?? 0;
    if ((shape & 0x7f) === CLASS_ACTION.ASK) return ASK_CHAIN;
    const zones = this.#words[(this.#class + CLIENT_CLASS.ZONES) >> 2] ?? 0;
    const found = zones === 0 ? NO_VIEW : this.#findByZone(this.#root + zones);
    return found === NO_VIEW ? (shape >>> 8) - 1 : found;
  }

  /**
   * The longest zone that contains the name. For DS the shortest: that is data of the parent (RFC 4035 section 3.1.4.1).
   *
   * @param zones the octet of a table of names
   */
  #findByZone(zones: number): number {
    const question = this.#question;
    const { labels } = question;
    const first = readMinLabels(this.#views, zones);
    const last = Math.min(labels, readMaxLabels(this.#views, zones));
    const isOfParent = question.type === TYPE.DS;
    for (let turn = first; turn <= last; turn++) {
      const kept = isOfParent ? turn : first + last - turn;
      const entry = findNameEntry(this.#views, zones, question, labels - kept);
      if (entry !== 0) return (this.#words[entry >> 2] ?? 0) >>> 8;
    }
    return NO_VIEW;
  }
}
