/**
 * Shows the names of one handler to readers.
 */
import { listAskRules } from '@portolan/kernel/chain/ask-rules.ts';
import { type Handler, listPublications } from '@portolan/kernel/chain/handler.ts';
import { DEFAULT_VIEW } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';

export function showHandler(table: TableWriter, handler: Handler): void {
  table.changeView(DEFAULT_VIEW, {
    publications: listPublications([handler]),
    askRules: [...listAskRules([handler])],
    recursionAvailable: false,
    rotatesAddresses: false,
    otherQuestions: 'refused',
  });
}
