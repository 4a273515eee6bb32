import { PROPERTY_NAMES } from '@portolan/kernel/base/testing/property-names.ts';
import { describe, expect, it } from 'vitest';
import { parseServiceRecord } from './service-record.ts';

describe('the value of a key', () => {
  it('is a record of services, with all its fields', () => {
    const value =
      '{"host":"10.0.0.1","port":80,"priority":5,"weight":7,"text":"t","mail":true,"ttl":9,"targetstrip":1,"group":"g"}';
    expect(parseServiceRecord(value)).toEqual({
      host: '10.0.0.1',
      port: 80,
      priority: 5,
      weight: 7,
      text: 't',
      mail: true,
      ttl: 9,
      targetStrip: 1,
      group: 'g',
    });
  });

  it('is read whatever the capitals of fields, null and unknown ones passed over', () => {
    const record = parseServiceRecord(' {"HOST":"a","Port":null,"other":[1.5],"host":"b"} ');
    expect(record).toMatchObject({ host: 'b', port: 0 });
    expect(parseServiceRecord('null')).toMatchObject({ host: '' });
  });

  it.each(PROPERTY_NAMES)('may have a field %s, which is an unknown one', (name) => {
    expect(parseServiceRecord(`{"host":"10.0.0.1",${JSON.stringify(name)}:1}`)).toMatchObject({
      host: '10.0.0.1',
    });
  });

  it.each([
    '',
    '{',
    '{} x',
    '[]',
    '"text"',
    '5',
    '{"port":"80"}',
    '{"port":80.5}',
    '{"host":5}',
    '{"mail":"true"}',
    '{"ttl":-1}',
    '{"ttl":4294967296}',
  ])('is refused: %s', (value) => {
    expect(parseServiceRecord(value)).toBeUndefined();
  });
});
