/** The delivered alerts, for a trial of minutes. */

/** The seconds in each of Prometheus' units. */
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/**
 * A rule file with every `for:` divided, and nothing else: the same conditions fire, only sooner.
 * @param factor at least 1
 * @throws Error for a duration of several units
 */
export function shortened(rules: string, factor: number): string {
  return rules
    .replaceAll(/^(\s*for:\s*)(\S+)\s*$/gm, (_, before: string, duration: string) => {
      const [, count = '', unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? [];
      const seconds = Number(count) * (UNITS[unit] ?? Number.NaN);
      if (!(seconds >= 0)) throw new Error(`for: ${duration} is not understood.`);
      return `${before}${Math.max(1, Math.round(seconds / factor))}s`;
    })
    .replace('- name: waybill\n', `- name: ${SHORTENED}\n`);
}

/** The group of shortened alerts, which is loaded beside the delivered ones. */
export const SHORTENED = 'shortened';

/** The settings of Prometheus. */
export interface Scraped {
  /** `host:port` of each process. */
  readonly targets: readonly string[];
  readonly everySeconds: number;
  readonly ruleFiles: readonly string[];
}

/** Its configuration: one installation, whose processes have fixed addresses. */
export function configuration({ targets, everySeconds, ruleFiles }: Scraped): string {
  return JSON.stringify({
    global: { scrape_interval: `${everySeconds}s`, evaluation_interval: `${everySeconds}s` },
    rule_files: ruleFiles,
    scrape_configs: [{ job_name: 'waybill', static_configs: [{ targets }] }],
  });
}
