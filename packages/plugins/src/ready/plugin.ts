/**
 * `ready`: whether all handlers are ready, over HTTP.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { readListenAddress } from '@portolan/corefile/directive/listen-address.ts';

export interface ReadyOptions {
  /** `host:port` or `:port`. */
  readonly address: string;
  /** `until-ready`: once ready, it stays ready. */
  readonly monitor: 'until-ready' | 'continuously';
}

const DEFAULT_ADDRESS = ':8181';

/** `ready [ADDRESS] { monitor until-ready|continuously }`. Source: plugin/ready of CoreDNS 1.14.7. */
export const ready = definePlugin({
  name: 'ready',
  syntax: ['ready [ADDRESS] {', '    monitor until-ready|continuously', '}'],
  read(cursor): ReadyOptions {
    let address = DEFAULT_ADDRESS;
    let monitor: ReadyOptions['monitor'] = 'until-ready';
    cursor.onlyUse(() => {
      address = readListenAddress(cursor, address);
      cursor.properties({
        monitor: () => {
          monitor = readMonitor(cursor);
        },
      });
    });
    return { address, monitor };
  },
});

function readMonitor(cursor: DirectiveCursor): ReadyOptions['monitor'] {
  const [text = ''] = cursor.remainingBetween(1, 1);
  if (text === 'until-ready' || text === 'continuously') return text;
  throw cursor.error(`monitor type '${text}' not supported`, 'Give until-ready or continuously.');
}
