/**
 * The lines of the server's own log about queries: those of CoreDNS's `log`, or of dnsmasq's `--log-queries`. Their rules are data, since
 * another thread writes the lines of what readers answer.
 */
import { TextBuffer } from '@portolan/dns/text-buffer.ts';
import type { NameKey, ResourceRecord } from '@portolan/dns/types.ts';
import type { EventView } from '@portolan/kernel/listen/query-events/event-reader.ts';
import type { LogRule } from '@portolan/plugins/log/options.ts';

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

export interface EventLines {
  /** Between lines that are given to the log together. */
  readonly separator: string;
  /** Adds what the rules want of an event that is no note. */
  addEvent(event: EventView, into: LineCollector): void;
  addNote(note: EventView, into: LineCollector): void;
}

/** Lines on their way to the log: one text costs less than many lines. */
export class LineCollector {
  readonly #text = new TextBuffer();
  #hasText = false;
  #lines: QueryLine[] = [];
  #separator = '';

  /** Between lines that follow. */
  separateBy(separator: string): void {
    this.#separator = separator;
  }

  /** Begins a line. @returns where its text is added to */
  begin(): TextBuffer {
    if (this.#hasText) this.#text.addText(this.#separator);
    this.#hasText = true;
    return this.#text;
  }

  add(line: QueryLine): void {
    if (typeof line === 'string') this.begin().addText(line);
    else {
      this.#join();
      this.#lines.push(line);
    }
  }

  /** Removes and returns all lines. */
  take(): readonly QueryLine[] {
    this.#join();
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  #join(): void {
    if (!this.#hasText) return;
    this.#hasText = false;
    this.#lines.push(this.#text.toString());
    this.#text.clear();
  }
}
