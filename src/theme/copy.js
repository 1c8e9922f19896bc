/** A button on what can be copied. It is in every script of pages, before their own. */
const copyButtons = () => {
  // Where a page is not served over TLS, a browser lets nothing be copied.
  if (!navigator.clipboard) return;
  for (const box of document.querySelectorAll('.code')) {
    if (box.querySelector('button')) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(box.querySelector('code').textContent);
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 1500);
    });
    box.append(button);
  }
};
copyButtons();
