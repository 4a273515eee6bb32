import { ROOT } from '@portolan/dns/name.ts';
import { expect, it, vi } from 'vitest';
import { MetricRegistry } from '../../base/metrics/registry.ts';
import type { Handler } from '../../chain/handler.ts';
import { toCoreDnsForm } from '../../chain/response-form.ts';
import { makeHandler } from '../../chain/testing/queries.ts';
import type { GroupPlan, ResponsePlan } from '../../plan/server-blocks-plan.ts';
import { TableFullError } from '../../table/arena.ts';
import { DEFAULT_PUBLICATION, DEFAULT_VIEW, type PublicationId, type ViewId } from '../../table/types.ts';
import { TableWriter } from '../../table/writer.ts';
import { BlockOutcomes } from './block-outcomes.ts';
import { findBlockRules } from './block-rules.ts';
import { BlockViews, type ViewedBlock } from './block-views.ts';
import { ReaderCounts } from './reader-counts.ts';

const COREDNS: ResponsePlan = {
  form: toCoreDnsForm('all'),
  rotatesAddresses: 'as-handlers-say',
  counting: { by: 'site' },
};
const OWN: ResponsePlan = {
  form: {
    acceptance: 'strict',
    recursionAvailable: true,
    opt: { kind: 'own', udpSize: 1232 },
    compression: 'always',
    extendedErrors: 'all',
  },
  rotatesAddresses: true,
  counting: { by: 'domain', domain: undefined },
};
const GROUP: GroupPlan = { server: 'dns://:53', sites: [{ zone: ROOT, block: 0 }] };

const publisher: Handler = {
  ...makeHandler(() => ({ kind: 'refused' })),
  role: 'publisher',
  publication: DEFAULT_PUBLICATION,
};

/** Views of one block for all names, and the views that its table has defined. */
function makeViews(responses: ResponsePlan) {
  const table = new TableWriter({ readers: 1, reservation: 2 ** 26 });
  const define = vi.spyOn(table, 'defineView');
  const counts = new ReaderCounts(
    new MetricRegistry(),
    () => {},
    () => ({ groups: [], queries: [] }),
  );
  const views = new BlockViews({
    table,
    responses,
    getListenerGroupNumber: () => 0,
    outcomes: new BlockOutcomes(counts),
    networks: { strangers: 'asked' },
  });
  const block: ViewedBlock = {
    plan: { zones: [ROOT], plugins: [] },
    handlers: [publisher],
    choice: undefined,
    rules: findBlockRules(new Set()),
    localised: () => [],
  };
  const isDefined = (view: ViewId) => {
    try {
      return table.viewSettings(view) !== undefined;
    } catch {
      return false;
    }
  };
  return {
    table,
    views,
    show: (shown: ViewedBlock = block) => views.show([GROUP], [shown]),
    block,
    defined: () => define.mock.results.map(({ value }) => value as ViewId).filter(isDefined),
  };
}

it('removes the views that others replace', () => {
  const { show, defined, views } = makeViews(COREDNS);
  show();
  const first = defined();
  expect(first).toHaveLength(2);
  show();
  expect(defined()).toHaveLength(2);
  expect(defined()).not.toContain(first[0]);
  views.remove();
  expect(defined()).toEqual([]);
});

it('keeps the views that are shown, and no others, if the next ones do not fit', () => {
  const { show, defined, views, table } = makeViews(COREDNS);
  show();
  const first = defined();
  const showViews = vi.spyOn(table, 'showViews');
  for (let attempt = 0; attempt < 3; attempt++) {
    showViews.mockImplementationOnce(() => {
      throw new TableFullError(64);
    });
    expect(() => show()).toThrow(TableFullError);
    expect(defined()).toEqual(first);
  }
  show();
  expect(defined()).toHaveLength(2);
  views.remove();
  expect(defined()).toEqual([]);
});

it('shows the view that every table has if all clients and names have the same', () => {
  const { show, table, defined } = makeViews(OWN);
  const showViews = vi.spyOn(table, 'showViews');
  show();
  expect(showViews).toHaveBeenCalledWith(undefined);
  expect(defined()).toEqual([]);
  expect(table.viewSettings(DEFAULT_VIEW)).toMatchObject({
    recursionAvailable: true,
    publications: [DEFAULT_PUBLICATION],
  });
});

it('leaves nothing of a former block in the default view, even if all clients have views of their own', () => {
  const { show, table, block } = makeViews(OWN);
  const network = { address: '192.0.2.0', prefix: 24 };
  const localisedBy = (publication: PublicationId): Partial<ViewedBlock> => ({
    plan: {
      zones: [ROOT],
      plugins: [],
      clients: { networks: [network], servesOnlyNetworks: true, localises: true },
    },
    localised: () => [{ network, publication }],
  });
  const former = table.definePublication();
  const near = table.definePublication();
  show({ ...block, handlers: [{ ...publisher, publication: former }] });
  show({ ...block, ...localisedBy(near) });
  expect(table.viewSettings(DEFAULT_VIEW).publications).toEqual([DEFAULT_PUBLICATION]);
  expect(() => [...table.dropPublication(former)]).not.toThrow();
});
