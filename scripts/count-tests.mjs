// Prints "PASSED FAILED" from vitest's JSON report. A run that did not finish counts as one failure.
import { readFileSync } from 'node:fs';

function count(file) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    const broken = report.testResults.filter(
      (suite) =>
        suite.status === 'failed' && suite.assertionResults.every((test) => test.status !== 'failed'),
    );
    const failed = report.numFailedTests + broken.length;
    return [report.numPassedTests, report.success || failed > 0 ? failed : 1];
  } catch {
    return [0, 1];
  }
}

console.log(count(process.argv[2]).join(' '));
