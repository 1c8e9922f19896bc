/** What a release decides from texts: the version's places, the changelog, and what a package may contain. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { comparedAs, released, topSection } from '../../release/version.ts';

const changelog =
  '# Changelog\n\nIntroduction.\n\n## [1.1.0] - Unreleased\n\n- New.\n\n## [1.0.0] - 2026-12-01\n\n- Old.\n';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('the changelog', () => {
  it('the top section gives version, date and text', () => {
    expect(topSection(changelog)).toEqual({ version: '1.1.0', date: undefined, text: '- New.' });
    const last = topSection(changelog.slice(changelog.indexOf('## [1.0.0]')));
    expect(last).toEqual({ version: '1.0.0', date: '2026-12-01', text: '- Old.' });
    expect(() => topSection('# Changelog\n')).toThrow('no section');
  });

  it('a release dates its section, whatever its version was until then', () => {
    const dated = '## [1.1.0] - 2027-01-02\n\n- New.';
    expect(released(changelog, '1.1.0', '2027-01-02')).toContain(dated);
    const unnamed = changelog.replace('[1.1.0] - Unreleased', '[Unreleased]');
    expect(released(unnamed, '1.1.0', '2027-01-02')).toContain(dated);
    expect(released(changelog, '1.1.0', '2027-01-02')).toContain('## [1.0.0] - 2026-12-01');
  });

  it('another version, or nothing new, is no release', () => {
    expect(() => released(changelog, '1.2.0', '2027-01-02')).toThrow('is 1.1.0, not 1.2.0');
    const twice = released(changelog, '1.1.0', '2027-01-02');
    expect(() => released(twice, '1.1.0', '2027-01-03')).toThrow('nothing since 1.1.0');
  });

  it('the current changelog has a section', () => {
    expect(topSection(read('CHANGELOG.md')).text).toContain('### Added');
  });
});

describe('the comparison with others', () => {
  it('the status is that of the changelog', () => {
    const comparison = read('docs/is-it-for-me.md');
    expect(comparedAs(comparison, read('CHANGELOG.md'))).toBe(comparison);
  });

  it('a missing row stops the release', () => {
    expect(() => comparedAs('# Is it for me?\n', changelog)).toThrow('no row for the status');
  });
});
