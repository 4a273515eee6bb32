/**
 * Answers of servers that identify themselves in class CHAOS, without their counts.
 */
import type { ChaosAnswers } from './chaos.ts';

export function identityOf(version: string): Pick<ChaosAnswers, 'version' | 'authors' | 'copyright'> {
  return {
    version: `portolan-${version}`,
    authors: 'The authors of Portolan',
    copyright: 'Copyright The authors of Portolan; Apache License 2.0',
  };
}
