/**
 * Measures each promise in each role.
 */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endAllPrograms } from '../support/portolan.ts';
import { canRun, ROLES } from '../support/roles.ts';
import { itWhere } from '../support/tools.ts';
import { bundlePromiseThreads } from './flood.ts';
import { isKept, SCENES } from './promises.ts';

beforeAll(bundlePromiseThreads);
afterEach(endAllPrograms);

describe.each(SCENES)('$name', ({ measure, rows }) => {
  for (const role of ROLES)
    itWhere(canRun(role), 'etcd', role, async () => {
      const figures = await measure(role);
      console.log(`${role}: ${JSON.stringify(figures)}`);
      const broken = rows.filter((row) => !isKept(row, figures[row.figure] ?? Number.NaN));
      const described = broken.map(
        ({ promise, shown, figure }) => `${promise}: ${shown}, and not ${figures[figure]}`,
      );
      expect(described.join('; ')).toBe('');
    });
});

it('each row has a figure of its own', () => {
  for (const { rows } of SCENES) expect(new Set(rows.map(({ figure }) => figure)).size).toBe(rows.length);
});
