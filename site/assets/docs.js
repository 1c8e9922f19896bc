/** Search, and one choice of language for all pages. Pages work without it; a search then leads to one saying so. */
(() => {
  const LANGUAGE = 'waybill-docs-language';

  const here = document.querySelector('#contents [aria-current]');
  const contents = document.getElementById('contents');
  // Not by scrollIntoView(), which would move the starting point of the keyboard.
  if (here) contents.scrollTop = here.offsetTop - contents.clientHeight / 3;

  // A browser without storage still applies the choice to the page.
  const remembered = () => {
    try {
      return localStorage.getItem(LANGUAGE);
    } catch {
      return null;
    }
  };
  const remember = (label) => {
    try {
      localStorage.setItem(LANGUAGE, label);
    } catch {
      // Then the choice holds for this page only.
    }
  };
  const choices = [...document.querySelectorAll('.snippets input')];
  const choose = (label) => {
    for (const choice of choices) if (choice.value === label) choice.checked = true;
  };
  for (const choice of choices) {
    choice.addEventListener('change', () => {
      if (choice.name !== 'version') remember(choice.value);
      choose(choice.value);
    });
  }
  choose(remembered());

  const form = document.querySelector('search form');
  const input = form.querySelector('input');
  const list = document.createElement('ul');
  list.id = 'found';
  list.hidden = true;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Results');
  form.append(list);
  input.setAttribute('role', 'combobox');
  input.setAttribute('aria-autocomplete', 'list');
  input.setAttribute('aria-controls', list.id);
  input.setAttribute('aria-expanded', 'false');

  const addressOfIndex = new URL(form.dataset.index, location.href);
  let loading;
  const load = async () => {
    const [{ default: MiniSearch }, { options, index }] = await Promise.all([
      import(new URL(form.dataset.engine, location.href)),
      fetch(addressOfIndex).then((answer) => answer.json()),
    ]);
    return MiniSearch.loadJS(index, options);
  };
  // Few look for why something is as it is.
  const boostDocument = (_id, _term, { part }) => (part === 'Decisions' ? 0.3 : 1);
  // Of its words, each once: hundreds would take long.
  const MAX_TERMS = 12;
  const found = (index, query) => {
    const words = [...new Set(query.split(/\s+/))].slice(0, MAX_TERMS);
    // Addresses in the index are relative to its own.
    return index
      .search(words.join(' '), { boostDocument })
      .map((entry) => ({ ...entry, href: new URL(entry.id, addressOfIndex).href }));
  };
  const element = (name, text, attributes = {}) =>
    Object.assign(document.createElement(name), { textContent: text, ...attributes });
  const engine = () => {
    loading ??= load().catch(() => {
      // The next attempt loads again.
      loading = undefined;
      return null;
    });
    return loading;
  };

  let chosen = -1;
  const options = () => [...list.querySelectorAll('[role="option"]')];
  const mark = (index) => {
    chosen = index;
    options().forEach((option, at) => {
      option.setAttribute('aria-selected', String(at === index));
    });
    const option = options()[index];
    if (option) {
      input.setAttribute('aria-activedescendant', option.id);
      option.scrollIntoView({ block: 'nearest' });
    } else input.removeAttribute('aria-activedescendant');
  };
  const show = (visible) => {
    list.hidden = !visible;
    input.setAttribute('aria-expanded', String(visible));
    if (!visible) mark(-1);
  };
  const optionOf = ({ href, title, part, excerpt }, index) => {
    const option = element('li', '', { id: `found-${index}` });
    option.setAttribute('role', 'option');
    option.setAttribute('aria-selected', 'false');
    option.append(element('strong', title), ' ', element('small', part), element('span', excerpt));
    option.addEventListener('click', () => {
      location.href = href;
      show(false);
    });
    return option;
  };
  const search = async () => {
    const index = await engine();
    const query = input.value.trim();
    if (!index || query === '') return show(false);
    const first = found(index, query).slice(0, 10);
    list.replaceChildren(...first.map(optionOf));
    list.dataset.query = query;
    mark(-1);
    show(first.length > 0);
  };
  input.addEventListener('focus', engine, { once: true });
  input.addEventListener('input', search);
  input.addEventListener('keydown', (event) => {
    const count = options().length;
    if (event.key === 'Escape') show(false);
    else if (event.key === 'Enter' && chosen >= 0) {
      event.preventDefault();
      options()[chosen].click();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !list.hidden) {
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      mark((chosen + step + count) % count);
    }
  });
  document.addEventListener('click', (event) => {
    if (!form.contains(event.target)) show(false);
  });
  document.addEventListener('keydown', (event) => {
    const typing = /^(input|textarea|select)$/i.test(document.activeElement?.tagName ?? '');
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });

  const results = document.getElementById('results');
  const cardOf = ({ href, title, part, excerpt }) => {
    const card = element('li', '');
    card.append(element('a', title, { href }), ' ', element('small', part), element('p', excerpt));
    return card;
  };
  const showResults = async (query) => {
    input.value = query;
    const index = query === '' ? null : await engine();
    if (index === null) {
      results.textContent =
        query === '' ? 'Type words into the field above.' : 'The search cannot be loaded.';
      return;
    }
    const first = found(index, query).slice(0, 20);
    results.textContent = first.length === 0 ? `Nothing was found for “${query}”.` : `Found for “${query}”:`;
    const cards = element('ul', '', { className: 'cards' });
    cards.append(...first.map(cardOf));
    results.after(cards);
  };
  if (results) showResults((new URLSearchParams(location.search).get('q') ?? '').trim());
})();
