// Prints "PASSED FAILED" over the JSON reports of several runs of vitest. A run that did not finish counts as one failure, as does a
// file that failed outside of its tests.
import { readFileSync } from 'node:fs';

function count(file) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    const broken = report.testResults.filter(
      (suite) =>
        suite.status === 'failed' && suite.assertionResults.every((test) => test.status !== 'failed'),
    );
    const failed = report.numFailedTests + broken.length;
    return { passed: report.numPassedTests, failed: report.success || failed > 0 ? failed : 1 };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

const counts = process.argv.slice(2).map(count);
const sum = (key) => counts.reduce((total, each) => total + each[key], 0);
console.log(sum('passed'), sum('failed'));
