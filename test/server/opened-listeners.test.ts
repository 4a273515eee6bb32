import { compileText } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { MAX_READERS } from '@portolan/kernel/table/writer.ts';
import { countCommonReaders, countReaders } from '@portolan/server/plan/count-readers.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';

const plan = compileText('. {\n whoami\n}\n');

/** @param own the dedicated readers of each group */
function planWith(udpReaders: number, own: readonly number[]): ServerPlan {
  const [group] = plan.listen.groups;
  if (group === undefined) throw new Error('a group');
  const groups = [group, ...own.map((readers) => ({ ...group, readers }))];
  return { ...plan, udpReaders, listen: { groups } };
}

it('groups with readers of their own have numbers before the common readers have', () => {
  const most = MAX_READERS - 1;
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: most }),
      fc.array(fc.integer({ min: 2, max: 20 }), { maxLength: 3 }),
      (udpReaders, own) => {
        const changed = planWith(udpReaders, own);
        const asked = own.reduce((sum, readers) => sum + readers, 0);
        const common = countCommonReaders(changed);
        const all = countReaders(changed);
        expect(common).toBe(Math.max(1, Math.min(udpReaders, most - asked)));
        expect(all).toBeLessThanOrEqual(most);
        expect(all - common).toBeGreaterThanOrEqual(Math.min(asked, most - 1));
      },
    ),
  );
});
