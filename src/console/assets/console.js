/** The console's own script: refreshes live pages while somebody looks. Without it pages stay as loaded. */
(() => {
  /** The time between two requests for the page, in milliseconds. */
  const POLL_MS = 4_000;
  /** How long a form is not sent again, in milliseconds. Too short: double clicks pass. Too long: a retry waits. */
  const SECOND_CLICK_MS = 5_000;

  const box = document.querySelector('[hx-get][hx-select]');
  let paused = false;

  // A list with checked items is not refreshed either, nor one that somebody has reached with the keyboard.
  const looking = () =>
    !paused &&
    document.visibilityState === 'visible' &&
    String(getSelection()) === '' &&
    document.querySelector('main a:focus-visible') === null &&
    document.querySelector('[hx-get] input:checked') === null;
  const live = () => {
    if (looking()) document.body.dispatchEvent(new Event('live'));
  };
  setInterval(live, POLL_MS);
  document.addEventListener('visibilitychange', live);

  /** The page shown. Its forms are new in every response. */
  let shown;
  document.addEventListener('htmx:beforeSwap', ({ detail }) => {
    const page = detail.serverResponse.replaceAll(/name="csrf" value="[^"]*"/g, '');
    if (page === shown || !looking()) detail.shouldSwap = false;
    if (detail.shouldSwap) shown = page;
  });
  // This person may no longer see the page, and reloading it says so. The request names the e-shop, since otherwise
  // the page would be about another one.
  document.addEventListener('htmx:responseError', ({ detail }) => {
    if (detail.xhr.status !== 403 && detail.xhr.status !== 404) return;
    const again = new URL(box.getAttribute('hx-get'), location);
    const eshop = document.querySelector('[data-eshop]')?.getAttribute('data-eshop');
    if (eshop) again.searchParams.set('eshop', eshop);
    location.assign(again);
  });

  // A second click would show an error instead of the result of the first. Esc may have canceled the first.
  const sent = new Set();
  document.addEventListener('submit', (event) => {
    // Not `.method`: a field of that name would be returned.
    if (event.target.getAttribute('method') !== 'post') return;
    // Forms are recognized by their path: a new one may have replaced this one.
    const path = event.target.getAttribute('action');
    if (sent.has(path)) event.preventDefault();
    else setTimeout(() => sent.delete(path), SECOND_CLICK_MS);
    sent.add(path);
  });
  addEventListener('pageshow', () => sent.clear());

  // If the navigation is wider than the screen. scrollIntoView() would move the start of keyboard navigation.
  const here = document.querySelector('nav [aria-current]');
  const nav = here?.closest('nav');
  if (nav) nav.scrollLeft = here.offsetLeft - nav.clientWidth / 2;

  // "Everything about orders" ticks the boxes of its group. If no box is ticked yet, the list changes to it as well.
  document.addEventListener('click', (event) => {
    const about = event.target.closest('a[data-about]')?.dataset.about;
    if (about === undefined) return;
    event.preventDefault();
    const boxes = [...document.querySelectorAll('input[data-about]')];
    const group = boxes.filter(({ dataset }) => dataset.about === about);
    if (!boxes.some(({ checked }) => checked)) {
      document.getElementById('webhookType').value = group[0].name.slice('also_'.length);
    }
    for (const box of group) box.checked = true;
  });

  // Selects all deliveries of a list at once. Without the script each is selected by itself.
  const chosen = document.getElementById('act-on-chosen');
  const boxes = () => [...document.querySelectorAll('input[type="checkbox"][form="act-on-chosen"]')];
  const all = document.createElement('input');
  function allOrNone() {
    const on = boxes().filter(({ checked }) => checked).length;
    all.checked = on > 0 && on === boxes().length;
    all.indeterminate = on > 0 && !all.checked;
  }
  if (chosen) {
    all.type = 'checkbox';
    const label = document.createElement('label');
    label.className = 'check';
    label.append(all, 'Select all that are listed');
    chosen.querySelector('.actions').before(label);
    all.addEventListener('change', () => {
      for (const box of boxes()) box.checked = all.checked;
    });
    document.addEventListener('change', allOrNone);
    addEventListener('pageshow', allOrNone);
  }

  // Times are written in UTC, and read in the reader's own zone; so are those typed into forms. As in times.tsx.
  const SHORT = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' };
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  function localTimes() {
    const year = new Date().getFullYear();
    for (const time of document.querySelectorAll('time.at')) {
      const at = new Date(time.dateTime);
      const more = at.getFullYear() === year ? {} : { year: 'numeric' };
      time.textContent = at.toLocaleString('en-GB', { ...SHORT, ...more });
      time.classList.remove('at');
    }
    for (const tick of document.querySelectorAll('text[data-at]'))
      tick.textContent = new Date(tick.dataset.at).toLocaleTimeString('en-GB', {
        hour: '2-digit',
        minute: '2-digit',
      });
  }
  const field = (at) => at.toISOString().slice(0, 16);
  const fields = [...document.querySelectorAll('input[type="datetime-local"]')];
  for (const input of fields) {
    const at = new Date(`${input.defaultValue}Z`);
    if (!Number.isNaN(at.getTime()))
      input.value = field(new Date(at.getTime() - at.getTimezoneOffset() * 60_000));
    for (const label of input.labels) label.textContent = label.textContent.replace('UTC', 'your time');
  }
  document.addEventListener('formdata', ({ formData }) => {
    for (const { name, value } of fields)
      if (value !== '' && formData.get(name) === value) formData.set(name, field(new Date(value)));
  });
  localTimes();
  const zone = document.querySelector('.zone');
  if (zone) zone.textContent = `Times are those of ${timeZone}.`;

  const foot = document.querySelector('.foot');
  if (foot && box) {
    const pause = document.createElement('button');
    pause.type = 'button';
    const late = document.createElement('span');
    late.setAttribute('role', 'status');
    let failedAt = null;
    const named = () => {
      pause.textContent = paused ? 'Resume live updates' : 'Pause live updates';
      late.textContent =
        failedAt === null ? '' : `Not updated since ${failedAt}: the server does not respond.`;
      foot.classList.toggle('live', !paused);
    };
    pause.addEventListener('click', () => {
      paused = !paused;
      named();
      live();
    });
    document.addEventListener('htmx:afterRequest', ({ detail }) => {
      failedAt = detail.successful ? null : (failedAt ?? new Date().toLocaleTimeString('en-GB'));
      named();
    });
    named();
    foot.append(' ', pause, ' ', late);
  }

  // Opened details stay open when their part of the page is replaced.
  let open = [];
  document.addEventListener('htmx:beforeSwap', () => {
    open = [...document.querySelectorAll('details[open][id]')].map(({ id }) => id);
  });
  document.addEventListener('htmx:afterSettle', () => {
    for (const id of open) document.getElementById(id)?.setAttribute('open', '');
    localTimes();
    copyButtons();
    allOrNone();
  });
})();
