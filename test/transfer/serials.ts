/**
 * Waits for the version of a zone that a server has.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';

/** @returns a function that waits until a server has a zone with a serial number, or one that fits; it returns the number */
export function serials(port: number, name: string) {
  const find = async (): Promise<number> => {
    const { answers } = await ask({ address: '127.0.0.1', port }, name, 'SOA').catch(() => ({ answers: [] }));
    const data = answers[0]?.data;
    return data?.kind === 'SOA' ? data.serial : 0;
  };
  return async (wanted: number | ((serial: number) => boolean)): Promise<number> => {
    const fits = typeof wanted === 'number' ? (serial: number) => serial === wanted : wanted;
    let serial: number | undefined;
    let isAsking = false;
    await waitUntil(`a serial: ${wanted}`, () => serial !== undefined && fits(serial), {
      step: () => {
        if (isAsking) return;
        isAsking = true;
        void find().then((found) => {
          serial = found;
          isAsking = false;
        });
      },
    });
    return serial ?? 0;
  };
}
