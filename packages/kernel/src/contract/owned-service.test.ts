import { expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { RecordingLog } from '../base/testing/recording-log.ts';
import { ownService, UsedServices } from './owned-service.ts';

it('opens a service once, ends it with the plugin, and opens none again', async () => {
  let open = 0;
  const service = ownService<string>({ name: 'x' }, () => {
    open += 1;
    return {
      value: 'x',
      stop: () => {
        open -= 1;
      },
    };
  });
  const used = new UsedServices([service], { name: 'test', clock: systemClock, log: new RecordingLog() });
  expect([used.find('x'), used.find('x'), open]).toEqual(['x', 'x', 1]);
  await used.stop();
  expect(() => used.find('x')).toThrow('the plugin has stopped, and opens no service: x');
  expect(open).toBe(0);
});

it('stops all services although some fail, and then names those', async () => {
  const stopped: string[] = [];
  const offered = ['a', 'b', 'c'].map((name) =>
    ownService<string>({ name }, () => ({
      value: name,
      stop() {
        stopped.push(name);
        if (name === 'a') throw new Error('busy');
        return name === 'b' ? Promise.reject(new Error('away')) : undefined;
      },
    })),
  );
  const used = new UsedServices(offered, { name: 'test', clock: systemClock, log: new RecordingLog() });
  for (const { name } of offered) used.find(name);
  await expect(used.stop()).rejects.toThrow('services not stopped: a: busy; b: away');
  expect(stopped).toEqual(['a', 'b', 'c']);
});
