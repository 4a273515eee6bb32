/**
 * The lines of the server's own log about queries: those of CoreDNS's `log`, or of dnsmasq's `--log-queries`. Their rules are data, since
 * another thread writes the lines of what readers answer.
 */
import type { QueryEvent } from '../../listen/query-events/event-reader.ts';
import type { LogRule } from '../../plugins/log/options.ts';
import type { NameKey, ResourceRecord } from '../../wire/types.ts';

export type LineRules =
  /** By zone; undefined: its block has no `log`. */
  | { readonly kind: 'coredns'; readonly zones: readonly (readonly [NameKey, LoggedZone | undefined])[] }
  /** `isNumbered`: lines begin with the number of their query and its client. */
  | { readonly kind: 'dnsmasq'; readonly isNumbered: boolean };

export interface LoggedZone {
  readonly rules: readonly LogRule[];
  /** The listen address; empty: all addresses. */
  readonly address: string;
  /** The maximum UDP size in octets, which limits larger sizes of clients. */
  readonly maxUdpSize: number;
}

export type QueryLine =
  /** One line, or several with the separator of `EventLines` between them. */
  | string
  /** A local record between two texts: in its place is the file that it comes from. */
  | { readonly before: string; readonly record: ResourceRecord; readonly after: string }
  /** A line of the level `error`. */
  | { readonly error: string };

export type QueryNote = NonNullable<QueryEvent['note']>;

export interface EventLines {
  /** Between lines that are given to the log together. */
  readonly separator: string;
  /** Empty: the rules want none. */
  ofEvent(event: QueryEvent): readonly QueryLine[];
  ofNote(note: QueryNote): QueryLine;
}
