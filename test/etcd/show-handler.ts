/**
 * Shows the names of one handler to readers.
 */
import { askRulesOf } from '../../src/chain/ask-rules.ts';
import { type Handler, publicationsOf } from '../../src/chain/handler.ts';
import { DEFAULT_VIEW } from '../../src/table/types.ts';
import type { TableWriter } from '../../src/table/writer.ts';

export function showHandler(table: TableWriter, handler: Handler): void {
  table.changeView(DEFAULT_VIEW, {
    publications: publicationsOf([handler]),
    askRules: [...askRulesOf([handler])],
    recursionAvailable: false,
    rotatesAddresses: false,
    otherQuestions: 'refused',
  });
}
