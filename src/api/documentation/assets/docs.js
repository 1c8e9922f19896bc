/**
 * Search while typing, and one language choice for all pages. Without it pages and choices work, and searches get a results page.
 */
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

  let loading;
  const load = async () => {
    const [{ default: MiniSearch }, { options, entries }] = await Promise.all([
      import(form.dataset.engine),
      fetch(form.dataset.index).then((answer) => answer.json()),
    ]);
    const index = new MiniSearch(options);
    index.addAll(entries);
    return index;
  };
  const engine = () => {
    loading ??= load().catch(() => {
      // The next attempt loads again; until then Enter leads to the results page.
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
  const optionOf = ({ id, title, part, text }, index) => {
    const option = document.createElement('li');
    option.id = `found-${index}`;
    option.setAttribute('role', 'option');
    option.setAttribute('aria-selected', 'false');
    option.dataset.href = id;
    const name = document.createElement('strong');
    name.textContent = title;
    const where = document.createElement('small');
    where.textContent = part;
    const words = document.createElement('span');
    words.textContent = text.slice(0, 110);
    option.append(name, ' ', where, words);
    option.addEventListener('click', () => {
      location.href = id;
      show(false);
    });
    return option;
  };
  const search = async () => {
    const index = await engine();
    const query = input.value.trim();
    if (!index || query === '') return show(false);
    const found = index.search(query).slice(0, 10);
    list.replaceChildren(...found.map(optionOf));
    list.dataset.query = query;
    mark(-1);
    show(found.length > 0);
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
})();
