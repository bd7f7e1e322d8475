// Sorts tables of samples by the column whose header is pressed; pressed again, the other way round. Cells without a
// value come last.
"use strict";
for (const table of document.querySelectorAll("table.samples")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const sort = (column, is_up) => {
    const value = (row) => row.cells[column].dataset.value;
    const rows = [...body.rows];
    rows.sort((a, b) => (!value(a) - !value(b)) || (is_up ? 1 : -1) * (value(a) - value(b)));
    body.append(...rows);
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", is_up ? "ascending" : "descending");
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.onclick = () => sort(column, head.getAttribute("aria-sort") !== "ascending");
    head.append(button);
  });
}
